import { counted } from '../../counted.ts';

export const terminals = {
  waiting: 'Terminales sin vehículo',
  waitingHint:
    'Se conectaron y fueron rechazados: ningún vehículo tiene su identificador, o su protocolo no es el del puerto.',
  nobodyWaits: 'No se ha conectado ningún terminal desconocido',
  nobodyWaitsHint:
    'Dirija un terminal a este servicio como se describe en «Conectar un terminal»: aparece aquí en segundos.',
  operatorsOnly:
    'Los terminales desconocidos se muestran a los operadores. Añada un vehículo con el id de su terminal.',
  attempts: (count: number) => counted('es', count, { one: '# intento', other: '# intentos' }),
  firstSeen: 'Visto por primera vez',
  lastSeen: 'Visto por última vez',
  notUnderstood: 'No entendido',
  looksLike: (title: string) => `Parece ${title}.`,
  pointAt: (port: string) => `Diríjalo al puerto ${port}.`,
  firstBytes: (shown: number, all: number) =>
    shown < all ? `Los primeros ${shown} de ${all} bytes` : counted('es', all, { one: '# byte', other: '# bytes' }),
  bytes: 'Bytes en hexadecimal y como texto',
  addVehicle: 'Añadir vehículo',
  createVehicle: 'Crear',
  vehicleName: (protocol: string, digits: string) => `Vehículo ${protocol} ${digits}`,
  added: (name: string) => `Se ha añadido «${name}». Su terminal se conecta de nuevo por sí mismo.`,
  awaiting: 'Esperando la primera posición…',
  awaitingHint: 'La mayoría de los terminales lo intenta de nuevo en menos de un minuto.',
  arrived: 'Ha llegado la primera posición.',
  editVehicle: 'Editar el vehículo',
  guide: 'Conectar un terminal',
  guideHint: 'Elija el protocolo del terminal.',
  host: 'Servidor',
  port: 'Puerto',
  tlsPort: 'Puerto con TLS',
  transport: 'Transporte',
  notListening: 'no abierto',
  copy: (what: string) => `Copiar: ${what}`,
  copied: 'Copiado.',
  steps: {
    point: 'Ponga servidor y puerto en el terminal, con su configurador o por SMS.',
    id: 'Añada un vehículo con el id del terminal, o espere a que el terminal aparezca en la lista.',
    secret: 'Si quiere, ponga un secreto en el vehículo:',
    see: 'Sus posiciones aparecen en el mapa en menos de un segundo desde su llegada.',
  },
  noSecret:
    'Los terminales de este protocolo no pueden presentar un secreto. Limite las redes desde las que se conectan.',
  exampleId: 'Un id de ejemplo',
  aboutProtocol: 'Sobre este protocolo',
};
