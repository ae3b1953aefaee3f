// Generated from the descriptions of events by `npm run openapi`. Do not edit.

export const events = {
  "geofence-visit": "Gebiet",
  "speeding": "Zu schnell",
  "trip": "Fahrt",
  "parking": "Parken",
  "idling": "Leerlauf",
  "ignition": "Zündung",
  "alarm": "Alarm",
  "power-cut": "Stromausfall",
  "offline": "Offline",
  "maintenance-due": "Wartung",
  "driver-shift": "Fahrerschicht",
  "refuelling": "Betankung",
  "fuel-drain": "Kraftstoffentnahme",
  "sensor-threshold": "Sensor-Grenzwert",
  "harsh-driving": "Harte Fahrweise"
} as const;

export const eventHints = {
  "geofence-visit": "Beginnt, wenn ein Fahrzeug in ein Gebiet fährt, und endet, wenn es dieses verlässt.",
  "speeding": "Schneller als das Limit des Fahrzeugs oder eines Gebiets.",
  "trip": "Beginnt mit der Abfahrt und endet, wenn das Fahrzeug länger steht.",
  "parking": "Das Fahrzeug steht mit ausgeschalteter Zündung.",
  "idling": "Das Fahrzeug steht mit eingeschalteter Zündung.",
  "ignition": "Beginnt mit dem Einschalten der Zündung und endet mit dem Ausschalten.",
  "alarm": "Das Terminal löst einen Alarm aus.",
  "power-cut": "Das Terminal verliert die externe Stromversorgung.",
  "offline": "Vom Terminal kommt länger nichts, als beim Fahrzeug erlaubt ist.",
  "maintenance-due": "Eine Wartung steht bevor oder ist fällig.",
  "driver-shift": "Die Karte oder der Schlüssel eines Fahrers wird gelesen oder entfernt.",
  "refuelling": "Der Tank wird gefüllt.",
  "fuel-drain": "Kraftstoff verlässt den Tank, den der Motor nicht verbrannt hat.",
  "sensor-threshold": "Ein Sensor liegt jenseits eines seiner Grenzwerte.",
  "harsh-driving": "Beschleunigen, Bremsen oder eine Kurve über der Grenze des Fahrzeugs oder seines Terminals."
} as const;
