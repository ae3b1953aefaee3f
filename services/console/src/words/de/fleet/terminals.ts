import { counted } from '../../counted.ts';

export const terminals = {
  waiting: 'Terminals ohne Fahrzeug',
  waitingHint:
    'Sie haben sich verbunden und wurden abgewiesen: Kein Fahrzeug hat ihre Kennung, oder ihr Protokoll ist nicht das des Ports.',
  nobodyWaits: 'Kein unbekanntes Terminal hat sich verbunden',
  nobodyWaitsHint:
    'Richten Sie ein Terminal wie unter „Terminal anschließen“ beschrieben auf diesen Dienst: es erscheint hier in Sekunden.',
  operatorsOnly: 'Unbekannte Terminals sehen nur Betreiber. Legen Sie ein Fahrzeug mit der ID Ihres Terminals an.',
  attempts: (count: number) => counted('de', count, { one: '# Versuch', other: '# Versuche' }),
  firstSeen: 'Zuerst gesehen',
  lastSeen: 'Zuletzt gesehen',
  notUnderstood: 'Nicht verstanden',
  looksLike: (title: string) => `Sieht aus wie ${title}.`,
  pointAt: (port: string) => `Richten Sie es auf Port ${port}.`,
  firstBytes: (shown: number, all: number) =>
    shown < all ? `Die ersten ${shown} von ${all} Bytes` : counted('de', all, { one: '# Byte', other: '# Bytes' }),
  bytes: 'Bytes hexadezimal und als Text',
  addVehicle: 'Fahrzeug anlegen',
  createVehicle: 'Anlegen',
  vehicleName: (protocol: string, digits: string) => `Fahrzeug ${protocol} ${digits}`,
  added: (name: string) => `„${name}“ wurde angelegt. Das Terminal verbindet sich von selbst wieder.`,
  awaiting: 'Warten auf die erste Position…',
  awaitingHint: 'Die meisten Terminals versuchen es binnen einer Minute wieder.',
  arrived: 'Die erste Position ist angekommen.',
  editVehicle: 'Fahrzeug bearbeiten',
  guide: 'Terminal anschließen',
  guideHint: 'Wählen Sie das Protokoll des Terminals.',
  host: 'Hostname',
  port: 'Portnummer',
  tlsPort: 'Port mit TLS',
  transport: 'Übertragung',
  notListening: 'nicht offen',
  copy: (what: string) => `Kopieren: ${what}`,
  copied: 'Kopiert.',
  steps: {
    point: 'Stellen Sie Host und Port im Terminal ein, mit seinem Konfigurator oder per SMS.',
    id: 'Legen Sie ein Fahrzeug mit der ID des Terminals an, oder warten Sie, bis das Terminal in der Liste erscheint.',
    secret: 'Setzen Sie auf Wunsch ein Geheimnis im Fahrzeug:',
    see: 'Seine Positionen erscheinen binnen einer Sekunde nach ihrer Ankunft auf der Karte.',
  },
  noSecret:
    'Terminals dieses Protokolls können kein Geheimnis vorzeigen. Beschränken Sie die Netze, aus denen sie sich verbinden.',
  exampleId: 'Beispiel einer ID',
  aboutProtocol: 'Über dieses Protokoll',
};
