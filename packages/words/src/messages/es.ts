import { es as sentences } from '../sentences/es.ts';
import type { MessageWords } from './words.ts';

export const es: MessageWords = {
  subject: (sentence) => `Evento de vehículo: ${sentence}`,
  lateData: 'datos tardíos',
  escalated: (message) => `Nadie lo ha confirmado todavía: ${message}`,
  lastedNow: (duration) => `, desde hace ${duration}`,
  ...sentences,
  labels: {
    time: 'Hora',
    began: 'Comienzo',
    ended: 'Fin',
    position: 'Posición',
    place: 'Lugar',
    from: 'Desde',
    to: 'Hasta',
    rule: 'Regla',
    tank: 'Depósito',
    licence: 'Permiso válido hasta',
    dueBy: 'Vence por',
    farthest: 'Valor extremo',
  },
  causes: { distance: 'distancia', 'engine-hours': 'horas de motor', days: 'días', counter: 'contador' },
  received: (time, delay) => `${time}, ${delay} después`,
  test: {
    subject: 'Prueba de notificaciones por correo',
    text: (rule) =>
      `Las notificaciones de la regla ${rule} se envían a esta dirección. Este mensaje es una prueba: no ha pasado nada.`,
  },
  channelTest: { title: 'Prueba', text: 'Este mensaje es una prueba: no ha pasado nada.' },
  code: {
    title: (code) => `Código: ${code}`,
    text: 'Un servicio de flotas quiere enviar aquí notificaciones sobre vehículos. Si las desea, entregue el código a quien se lo pidió. Si no sabe de qué se trata, no haga nada.',
  },
  footer: {
    why: (url) => `Recibe este correo porque esta dirección figura en el servicio de flotas ${url}.`,
    unsubscribe: 'Darse de baja',
  },
  confirmation: {
    subject: 'Confirme su dirección de correo',
    why: (url) =>
      `Alguien que usa el servicio de flotas ${url} quiere enviar notificaciones o informes sobre vehículos a esta dirección. Si los desea, confírmela aquí:`,
    expires: (days) => `El enlace es válido durante ${days} días.`,
    ignore: 'Si no sabe de qué se trata, no haga nada: no se le enviará nada.',
  },
  accountMails: {
    reset: {
      subject: 'Elija una contraseña nueva',
      why: (url, login) =>
        `Alguien pidió una contraseña nueva para la cuenta ${login} en el servicio de flotas ${url}. Elíjala aquí:`,
    },
    invitation: {
      subject: 'Su cuenta en el servicio de flotas',
      why: (url, login) => `Ha recibido la cuenta ${login} en el servicio de flotas ${url}. Elija aquí una contraseña:`,
    },
    expiresHours: (hours) =>
      hours === 1 ? 'El enlace sirve una vez, durante una hora.' : `El enlace sirve una vez, durante ${hours} horas.`,
    expiresDays: (days) => `El enlace sirve una vez, durante ${days} días.`,
    ignore: 'Si no sabe de qué se trata, no haga nada: nada cambia.',
  },
  accountNotices: {
    subject: (login) => `Cambió el acceso a su cuenta ${login}`,
    about: (login, url, time) => `Cuenta ${login} en el servicio de flotas ${url}, ${time}:`,
    what: {
      'password-changed': 'Se cambió la contraseña.',
      'email-changed': 'Se puso otra dirección de correo. Los mensajes sobre la cuenta ya no llegan aquí.',
      'second-factor-enabled': 'Se activó un segundo factor: códigos de una aplicación.',
      'second-factor-removed': 'Se quitó el segundo factor.',
      'recovery-code-used': 'Se usó un código de recuperación para entrar.',
      'passkey-added': (name) => `Se añadió la llave de acceso ${name}.`,
      'passkey-removed': (name) => `Se quitó la llave de acceso ${name}.`,
      'sign-in-linked': (name) => `Se vinculó el acceso con ${name}.`,
      'sign-in-unlinked': (name) => `Se desvinculó el acceso con ${name}.`,
    },
    notYou: (url) => `Si no fue usted, ponga otra contraseña en ${url} y pida ayuda a quien administra su cuenta.`,
  },
  addressPages: {
    confirm: {
      title: 'Confirme su dirección de correo',
      about: (address) =>
        `¿Debe ${address} recibir notificaciones e informes sobre vehículos de este servicio de flotas?`,
      button: 'Confirmar',
    },
    confirmed: {
      title: 'Confirmada',
      about: (address) =>
        `A partir de ahora ${address} recibe correos. Cada uno tiene un enlace para dejar de recibirlos.`,
    },
    unsubscribe: {
      title: 'Darse de baja',
      about: (address) => `¿Debe ${address} dejar de recibir correos de esta flota?`,
      button: 'Darse de baja',
    },
    unsubscribed: {
      title: 'Baja realizada',
      about: (address) => `${address} ya no recibe correos de esta flota. ¿Ha sido un error?`,
      button: 'Volver a recibir correos',
    },
    expired: {
      title: 'Este enlace ya no es válido',
      about: 'Ya se usó, ha caducado o está incompleto.',
    },
    changed: { title: 'Inténtelo de nuevo', about: 'La dirección se modificó en ese mismo momento.' },
  },
  reportMail: {
    title: (report, period) => `Informe ${report}${period === null ? '' : `, ${period}`}`,
    period: (first, last) => `del ${first} al ${last}`,
    failed: (title) => `${title}: no se pudo crear`,
    reasons: {
      gone: 'Lo que indica ya no existe, o usted no puede verlo.',
      'too-large': 'Es demasiado grande: elija menos vehículos o menos tiempo.',
      failed: 'El servicio no pudo crearlo. Créelo de nuevo en la consola o espere al siguiente.',
    },
    tooLarge: (megabytes, url) => `Tiene ${megabytes} MB, demasiado para un correo. Está en ${url}`,
    labels: {
      schedule: 'Programación',
      rows: 'Filas',
      daysOf: 'Días según',
      made: 'Creado',
      file: 'Archivo',
      reason: 'Motivo',
    },
  },
};
