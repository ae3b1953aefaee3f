// Generated from the descriptions of events by `npm run openapi`. Do not edit.

export const events = {
  "geofence-visit": "Geocerca",
  "speeding": "Exceso de velocidad",
  "trip": "Viaje",
  "parking": "Estacionamiento",
  "idling": "Ralentí",
  "ignition": "Contacto",
  "alarm": "Alarma",
  "power-cut": "Corte de corriente",
  "offline": "Sin conexión",
  "maintenance-due": "Mantenimiento",
  "driver-shift": "Turno de conductor",
  "refuelling": "Repostaje",
  "fuel-drain": "Descarga de combustible",
  "sensor-threshold": "Umbral de sensor",
  "harsh-driving": "Conducción brusca"
} as const;

export const eventHints = {
  "geofence-visit": "Empieza cuando un vehículo entra en una geocerca y termina cuando sale.",
  "speeding": "Más rápido que el límite del vehículo o de una geocerca.",
  "trip": "Empieza cuando el vehículo arranca y termina cuando se detiene un rato largo.",
  "parking": "El vehículo está parado con el encendido apagado.",
  "idling": "El vehículo está parado con el encendido puesto.",
  "ignition": "Empieza al poner el encendido y termina al apagarlo.",
  "alarm": "El terminal emite una alarma.",
  "power-cut": "El terminal pierde la alimentación externa.",
  "offline": "No llega nada del terminal durante más tiempo del permitido.",
  "maintenance-due": "Un mantenimiento está próximo o ya corresponde.",
  "driver-shift": "Se lee o se retira la tarjeta o la llave de un conductor.",
  "refuelling": "Se llena el depósito.",
  "fuel-drain": "Sale del depósito combustible que el motor no quemó.",
  "sensor-threshold": "Un sensor está fuera de uno de sus umbrales.",
  "harsh-driving": "Aceleración, frenado o curva por encima del límite del vehículo o de su terminal."
} as const;
