// Generated from the descriptions of events by `npm run openapi`. Do not edit.

export const events = {
  "geofence-visit": "Geofence",
  "speeding": "Speeding",
  "trip": "Trip",
  "parking": "Parking",
  "idling": "Idling",
  "ignition": "Ignition",
  "alarm": "Alarm",
  "power-cut": "Power cut",
  "offline": "Offline",
  "maintenance-due": "Maintenance",
  "driver-shift": "Driver shift",
  "refuelling": "Refuelling",
  "fuel-drain": "Fuel drain",
  "sensor-threshold": "Sensor beyond threshold",
  "harsh-driving": "Harsh driving"
} as const;

export const eventHints = {
  "geofence-visit": "Begins when a vehicle enters a geofence, ends when it leaves.",
  "speeding": "Faster than the limit of the vehicle or of a geofence.",
  "trip": "Begins when the vehicle moves off, ends when it stops for long.",
  "parking": "The vehicle stands with the ignition off.",
  "idling": "The vehicle stands with the ignition on.",
  "ignition": "Begins when the ignition is switched on, ends when it is switched off.",
  "alarm": "The terminal raises an alarm.",
  "power-cut": "The terminal loses its external power.",
  "offline": "Nothing comes from the terminal for longer than the vehicle allows.",
  "maintenance-due": "A service is near or due.",
  "driver-shift": "A driver’s card or key is read, or taken away.",
  "refuelling": "The tank is filled.",
  "fuel-drain": "Fuel leaves the tank that the engine did not burn.",
  "sensor-threshold": "A sensor is beyond one of its thresholds.",
  "harsh-driving": "Acceleration, braking or a bend beyond the limit of the vehicle, or of its terminal."
} as const;
