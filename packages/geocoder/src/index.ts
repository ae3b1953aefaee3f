export { type AddressServer, openAddressServer, SERVER_FORMATS, type ServerFormat } from './address-server.ts';
export { Gazetteer, openGazetteer } from './gazetteer.ts';
export { type Geocoder, openGeocoder, type Place, type Point } from './geocoder.ts';
export { OwnPlaces } from './own-places.ts';
