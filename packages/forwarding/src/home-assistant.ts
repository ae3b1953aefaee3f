import type { VehicleId } from '@outrider/domain';

interface Sensor {
  component: 'sensor' | 'binary_sensor';
  name: string;
  /** Name of the field in a forwarded position. */
  field: string;
  template?: string;
  settings: Readonly<Record<string, string>>;
}

const SENSORS: readonly Sensor[] = [
  {
    component: 'sensor',
    name: 'Speed',
    field: 'speedKmh',
    settings: { device_class: 'speed', unit_of_measurement: 'km/h', state_class: 'measurement' },
  },
  {
    component: 'sensor',
    name: 'Odometer',
    field: 'odometerM',
    settings: { device_class: 'distance', unit_of_measurement: 'm', state_class: 'total_increasing' },
  },
  {
    component: 'sensor',
    name: 'Supply voltage',
    field: 'supplyV',
    settings: { device_class: 'voltage', unit_of_measurement: 'V', state_class: 'measurement' },
  },
  {
    component: 'sensor',
    name: 'Fuel',
    field: 'fuelL',
    settings: { device_class: 'volume_storage', unit_of_measurement: 'L', state_class: 'measurement' },
  },
  { component: 'sensor', name: 'Last fix', field: 'fixTime', settings: { device_class: 'timestamp' } },
  {
    component: 'binary_sensor',
    name: 'Ignition',
    field: 'ignition',
    template: "{{ 'ON' if value_json.ignition else 'OFF' if value_json.ignition is defined else none }}",
    settings: { device_class: 'running' },
  },
];

/**
 * Retained messages of the MQTT discovery that make a vehicle appear in Home Assistant, by topic.
 *
 * @param positionTopic topic of the vehicle's newest position
 */
export function homeAssistantDiscovery(
  discoveryPrefix: string,
  vehicle: { id: VehicleId; name: string },
  positionTopic: string,
): { topic: string; payload: string }[] {
  const object = `outrider_${vehicle.id.replaceAll('-', '')}`;
  const device = { identifiers: [object], name: vehicle.name, manufacturer: 'Outrider', model: 'Vehicle' };
  const tracker = {
    name: null,
    unique_id: object,
    json_attributes_topic: positionTopic,
    source_type: 'gps',
    device,
  };
  const configs: [topic: string, config: object][] = [[`device_tracker/${object}`, tracker]];
  for (const { component, name, field, template, settings } of SENSORS)
    configs.push([
      `${component}/${object}/${field}`,
      {
        name,
        unique_id: `${object}_${field}`,
        state_topic: positionTopic,
        value_template: template ?? `{{ value_json.${field} | default(none) }}`,
        ...settings,
        device,
      },
    ]);
  return configs.map(([topic, config]) => ({
    topic: `${discoveryPrefix}/${topic}/config`,
    payload: JSON.stringify(config),
  }));
}
