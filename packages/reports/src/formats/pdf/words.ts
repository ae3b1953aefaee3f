import type { Language } from '@outrider/words';
import type { Grouping } from '../../kinds/groups.ts';
import type { Column } from '../../report.ts';
import type { Readable } from './readable.ts';

export interface Words {
  made: string;
  forWhom: string;
  timeZone: string;
  now: string;
  total: string;
  rows: string;
  mean: string;
  highest: string;
  lowest: string;
  none: string;
  without: string;
  yes: string;
  no: string;
  page: (nth: number, of: number) => string;
  incomplete: (from: string, to: string) => string;
  groups: Readonly<Record<Grouping | 'hour', string>>;
}

export const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    made: 'Made',
    forWhom: 'For',
    timeZone: 'Time zone',
    now: 'Now',
    total: 'Total',
    rows: 'Rows',
    mean: 'mean',
    highest: 'highest',
    lowest: 'lowest',
    none: 'Nothing in this period.',
    without: 'None',
    yes: 'Yes',
    no: 'No',
    page: (nth, of) => `Page ${nth} of ${of}`,
    incomplete: (from, to) => `Incomplete: rows from ${from} to ${to} are lost`,
    groups: {
      vehicle: 'Vehicle',
      driver: 'Driver',
      day: 'Day',
      geozone: 'Geofence',
      kind: 'Kind',
      sensor: 'Sensor',
      hour: 'Hour of the day',
    },
  },
  ru: {
    made: 'Составлен',
    forWhom: 'Для',
    timeZone: 'Часовой пояс',
    now: 'Сейчас',
    total: 'Итого',
    rows: 'Строк',
    mean: 'среднее',
    highest: 'макс.',
    lowest: 'мин.',
    none: 'За этот период ничего нет.',
    without: 'Нет',
    yes: 'Да',
    no: 'Нет',
    page: (nth, of) => `Страница ${nth} из ${of}`,
    incomplete: (from, to) => `Неполно: записи с ${from} по ${to} утеряны`,
    groups: {
      vehicle: 'Транспорт',
      driver: 'Водитель',
      day: 'День',
      geozone: 'Геозона',
      kind: 'Вид',
      sensor: 'Датчик',
      hour: 'Час суток',
    },
  },
  de: {
    made: 'Erstellt',
    forWhom: 'Für',
    timeZone: 'Zeitzone',
    now: 'Jetzt',
    total: 'Summe',
    rows: 'Zeilen',
    mean: 'Mittel',
    highest: 'höchster Wert',
    lowest: 'kleinster Wert',
    none: 'Nichts in diesem Zeitraum.',
    without: 'Ohne',
    yes: 'Ja',
    no: 'Nein',
    page: (nth, of) => `Seite ${nth} von ${of}`,
    incomplete: (from, to) => `Unvollständig: Daten von ${from} bis ${to} sind verloren`,
    groups: {
      vehicle: 'Fahrzeug',
      driver: 'Fahrer',
      day: 'Tag',
      geozone: 'Gebiet',
      kind: 'Art',
      sensor: 'Sensor',
      hour: 'Stunde des Tages',
    },
  },
  es: {
    made: 'Creado',
    forWhom: 'Para',
    timeZone: 'Zona horaria',
    now: 'Ahora',
    total: 'Total',
    rows: 'Filas',
    mean: 'media',
    highest: 'máximo',
    lowest: 'mínimo',
    none: 'Nada en este periodo.',
    without: 'Ninguno',
    yes: 'Sí',
    no: 'No',
    page: (nth, of) => `Página ${nth} de ${of}`,
    incomplete: (from, to) => `Incompleto: se perdieron datos del ${from} al ${to}`,
    groups: {
      vehicle: 'Vehículo',
      driver: 'Conductor',
      day: 'Día',
      geozone: 'Geocerca',
      kind: 'Tipo',
      sensor: 'Sensor',
      hour: 'Hora del día',
    },
  },
  he: {
    made: 'הופק',
    forWhom: 'עבור',
    timeZone: 'אזור זמן',
    now: 'כעת',
    total: 'סה״כ',
    rows: 'שורות',
    mean: 'ממוצע',
    highest: 'מרבי',
    lowest: 'מזערי',
    none: 'אין נתונים בתקופה זו.',
    without: 'ללא',
    yes: 'כן',
    no: 'לא',
    page: (nth, of) => `עמוד ${nth} מתוך ${of}`,
    incomplete: (from, to) => `חסר: רשומות מ-${from} עד ${to} אבדו`,
    groups: {
      vehicle: 'רכב',
      driver: 'נהג',
      day: 'יום',
      geozone: 'אזור',
      kind: 'סוג',
      sensor: 'חיישן',
      hour: 'שעה ביממה',
    },
  },
};

/** The name of a column's total, such as `Speed, highest`. */
export function totalTitle({ name, total }: Column, readable: Readable, words: Words): string {
  const how = { sum: '', max: `, ${words.highest}`, min: `, ${words.lowest}`, mean: `, ${words.mean}` };
  return `${readable.title(name)}${total === undefined ? '' : how[total]}`;
}
