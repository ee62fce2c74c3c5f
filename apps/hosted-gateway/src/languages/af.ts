import type { Messages } from './en.js';

/** Afrikaans. en.ts describes the keys. */
export const af: Messages = {
  name: 'Afrikaans',

  format: {
    decimalMark: ',',
    dateTime: '{day} {month} {year} om {time}',
    months: [
      'Januarie',
      'Februarie',
      'Maart',
      'April',
      'Mei',
      'Junie',
      'Julie',
      'Augustus',
      'September',
      'Oktober',
      'November',
      'Desember',
    ],
  },

  language: {
    label: 'Taal',
    confirmLanguageChange:
      'Die bladsy laai weer in die ander taal, en jy moet jou kaartbesonderhede weer invul. Gaan voort?',
  },

  page: {
    yourOrder: 'Jou bestelling',
    order: 'Bestelling',
    moreDetails: 'Meer besonderhede',
    items: '{count} artikels',
    total: 'Totaal',
    shipping: 'Aflewering',
    tax: 'BTW',
    taxIncluded: 'BTW ingesluit',
    backToStore: 'Terug na die winkel',
    payTitle: 'Betaal {amount} aan {merchant}',
    stateTitle: '{heading} · {merchant}',
    footer: 'Jou kaartbesonderhede word in hierdie blaaier geënkripteer voordat dit gestuur word.',
    test: 'TOETS: geen geld beweeg nie',
    footerPlain: 'Veilige betalings deur Svc Payments',
    chargeReversed: '’n Betaling is te laat voltooi en na jou kaart terugbetaal. Jy hoef niks te doen nie.',
    noScript:
      'Om met ’n kaart te betaal, is JavaScript nodig, want jou kaartbesonderhede word in hierdie blaaier geënkripteer ' +
      'voordat dit gestuur word. Skakel asseblief JavaScript aan en herlaai die bladsy, of gaan terug na die winkel. ' +
      'Niks is gehef nie.',
  },

  form: {
    heading: 'Betaal met kaart',
    acceptedCards: 'Kaarte wat aanvaar word',
    cardNumber: 'Kaartnommer',
    cardNumberPlaceholder: '1234 1234 1234 1234',
    expiry: 'Vervaldatum',
    expiryPlaceholder: 'MM / JJ',
    cvv: 'CVV',
    cvvHintEither: '3 syfers op die agterkant, of 4 op die voorkant',
    cvvHint: '3 syfers op die agterkant',
    cvvHintFour: '4 syfers op die voorkant',
    holderName: 'Naam op die kaart',
    pay: 'Betaal',
    lastPayment: 'Dit is jou laaste poging.',
    paymentsLeft: 'Jy het {left} van {payments} pogings oor.',
    expiring:
      'Jy kan tot {time} hier betaal. Daarna word niks gehef nie, en jy kan die betaling weer in die winkel begin.',
    moreTime: 'Gee my nog 15 minute',
    stillLoading: 'Die vorm laai nog. As niks gebeur nie,',
    reload: 'laai die bladsy weer',
  },

  byCode: {
    heading: 'Betaal met ’n ander toestel',
    summary: 'Betaal met ’n ander toestel',
    imageDescription: 'QR-kode wat hierdie betaling op ’n foon oopmaak',
    note: 'Skandeer hierdie kode met die ander toestel se kamera, of met ’n betaaltoep wat hierdie kode ondersteun.',
    continuesAutomatically: 'Hierdie bladsy wys die kwitansie wanneer die betaling voltooi is.',
  },

  choice: {
    amount: 'Bedrag om te betaal',
    tip: 'Fooitjie (opsioneel)',
  },

  choiceErrors: {
    notAnAmount: 'Voer ’n bedrag soos 12,50 in.',
    tooLittle: 'Jy kan {least} of meer betaal.',
    tooMuch: 'Jy kan hoogstens {most} hier betaal.',
  },

  fieldErrors: {
    cardNumberMissing: 'Voer die kaartnommer in.',
    cardNumberWrong: 'Hierdie kaartnommer is nie korrek nie. Gaan die syfers na.',
    expiryMissing: 'Voer die vervaldatum in as MM / JJ.',
    expiryMonth: 'Die maand moet 01 tot 12 wees.',
    expiryPast: 'Hierdie kaart het verval. Gaan die vervaldatum na, of gebruik ’n ander kaart.',
    expiryFar: 'Gaan die jaar na.',
    cvvMissing: 'Voer die CVV in.',
    cvvWrong: 'Die CVV van hierdie kaart het {digits} syfers.',
    cvvWrongEither: 'Die CVV het 3 of 4 syfers.',
    holderNameMissing: 'Voer die naam op die kaart in.',
    holderNameLong: 'Gebruik hoogstens {max} karakters.',
  },

  formErrors: {
    otherPayerFailed: '’n Betaling op ’n ander toestel het nie geslaag nie. Jy kan hier betaal.',
    refused: 'Die betaling is nie aanvaar nie. Gaan jou besonderhede na en probeer weer.',
    tooMany: 'Baie betalings word nou vanaf jou netwerk gemaak. Niks is gehef nie. Wag ’n oomblik en druk weer Betaal.',
    notSent:
      'Ons kon nie jou betaling stuur nie. Gaan jou verbinding na en druk weer Betaal: jy sal nie twee keer betaal nie.',
    insecure:
      'Hierdie bladsy is oor ’n onveilige verbinding oopgemaak, en daarom kan jy nie hier met ’n kaart betaal nie.',
    cannotEncrypt:
      'Jou kaartbesonderhede kon nie geënkripteer word nie. Niks is gestuur nie. Herlaai die bladsy en probeer weer.',
    challengeFailed: 'Die veiligheidskontrole op jou toestel het te lank geneem. Niks is gehef nie. Druk weer Betaal.',
  },

  refusals: {
    'card-key.not-in-use': 'Hierdie bladsy is verouderd. Herlaai dit en probeer weer. Niks is gehef nie.',
    'live-mode.unavailable': 'Jy kan nog nie hier met ’n kaart betaal nie. Niks is gehef nie.',
    'card.too-many-attempts':
      'Hierdie kaart kan nie nou hier gebruik word nie. Gebruik ’n ander kaart, of probeer later weer. Niks is gehef nie.',
    'payable.mismatch':
      'Die bedrag van die bestelling het verander. Herlaai die bladsy en gaan dit na. Niks is gehef nie.',
  },

  challenge: {
    heading: 'Net ’n oomblik, asseblief',
    note: 'Jou toestel doen ’n kort veiligheidskontrole wat kaarte teen misbruik beskerm. Jy hoef niks te doen nie. Die vorm verskyn wanneer die kontrole voltooi is.',
    progress: '{percent} % klaar.',
    done: 'Klaar. Jy kan nou betaal.',
  },

  processing: {
    sendingHeading: 'Jou betaling word gestuur…',
    busyHeading: 'Baie betalings word nou vanaf jou netwerk gemaak',
    offlineHeading: 'Jy is vanlyn',
    offlineNote:
      'Jou betaling is nog nie gestuur nie, en niks is gehef nie. Hou hierdie bladsy oop: dit stuur die betaling wanneer jy weer aanlyn is.',
    heading: 'Besig om by jou bank te bevestig…',
    note: 'Dit neem ’n paar sekondes. Hou asseblief hierdie bladsy oop.',
    lateHeading: 'Dit neem langer as gewoonlik',
    stillChecking: 'Ons wag nog vir jou bank. Moenie weer betaal nie.',
    lateNote:
      'Hierdie bladsy wys die uitslag sodra jou bank dit bevestig. Jy kan dit toemaak: die betaling gaan sonder hierdie bladsy voort.',
    noScript: 'Hierdie bladsy kyk elke paar sekondes weer.',
  },

  verification: {
    heading: 'Bevestig die betaling by jou bank',
    note: 'Jou bank wil seker maak dat dit jy is. Niks word gehef voordat jy bevestig het nie.',
    continueToBank: 'Gaan voort na jou bank',
    anotherCard: 'Gebruik ’n ander kaart',
    until: 'Jy kan bevestig tot',
  },

  paid: {
    heading: 'Betaling geslaag',
    alreadyHeading: 'Hierdie bestelling is reeds betaal',
    alreadyNote: 'Daar is niks meer om te betaal nie.',
    amount: 'Bedrag',
    card: 'Kaart',
    reference: 'Betalingsverwysing',
    date: 'Datum',
    next: 'Ons bevestig jou betaling aan die winkel. As jy ’n vraag oor jou bestelling het, kontak die winkel en gee die betalingsverwysing.',
    returnTo: 'Terug na {merchant}',
    returning: 'Jy gaan binnekort terug na die winkel.',
    stay: 'Bly op hierdie bladsy',
    print: 'Druk of bewaar die kwitansie',
    scanned: 'Die ander toestel wys ook die betaling. Jy kan hierdie bladsy toemaak.',
    atTill: 'Die betaalpunt ontvang ook die bevestiging. Jy kan hierdie bladsy toemaak.',
    requested: 'Die sender van die versoek ontvang ook die bevestiging. Jy kan hierdie bladsy toemaak.',
  },

  closed: {
    refused: {
      heading: 'Hierdie betaling kan nie weer probeer word nie',
      note: '{payments} pogings het nie geslaag nie. Niks is gehef nie. Gaan terug na die winkel om op ’n ander manier te betaal.',
    },
    expired: {
      heading: 'Hierdie betaalbladsy het verval',
      note: 'Niks is gehef nie. Gaan terug na die winkel en begin weer met die betaling.',
    },
    cancelled: {
      heading: 'Hierdie betaling is gekanselleer',
      note: 'Niks is gehef nie. Gaan terug na die winkel as jy nog wil betaal.',
    },
  },

  closedAtTill: {
    refused: {
      heading: 'Hierdie betaling kan nie weer hier probeer word nie',
      note: 'Te veel kaarte is geweier. Niks is gehef nie. Vra by die betaalpunt hoe jy anders kan betaal.',
    },
    paused: {
      heading: 'Hierdie kode is vir ’n paar minute gesluit',
      note: 'Te veel kaarte is hier geweier. Niks is gehef nie. Skandeer die kode wat die betaalpunt vir hierdie verkoop wys, betaal met ’n betaaltoep, of probeer oor tien minute weer.',
    },
    expired: {
      heading: 'Hierdie kode het verval',
      note: 'Niks is gehef nie. Vra by die betaalpunt vir ’n nuwe kode.',
    },
    cancelled: {
      heading: 'Hierdie kode word nie meer gebruik nie',
      note: 'Niks is gehef nie. Die betaalpunt het hierdie verkoop verander of afgesluit: skandeer die kode wat dit nou wys.',
    },
  },

  closedRequest: {
    refused: {
      heading: 'Hierdie betaling kan nie weer probeer word nie',
      note: 'Te veel kaarte is geweier. Niks is gehef nie. Vra die sender van die versoek hoe jy anders kan betaal.',
    },
    expired: {
      heading: 'Hierdie betaalversoek het verval',
      note: 'Niks is gehef nie. Vra die sender vir ’n nuwe skakel.',
    },
    cancelled: {
      heading: 'Hierdie betaalversoek is gekanselleer',
      note: 'Niks is gehef nie. Vra die sender van die versoek as jy ’n vraag het.',
    },
  },

  notFound: {
    heading: 'Hierdie betaalbladsy bestaan nie',
    note: 'Die adres is onvolledig of nie meer geldig nie. Gaan terug na die winkel en begin weer met die betaling.',
  },

  unavailable: {
    heading: 'Hierdie bladsy is nie nou beskikbaar nie',
    note: 'As jy reeds Betaal gedruk het, moenie weer betaal nie: jou betaling is nie verlore nie, en hierdie bladsy sal die uitslag wys.',
    again: 'Hierdie bladsy probeer elke paar sekondes weer. Jy kan dit ook toemaak en later terugkom.',
  },

  atTill: {
    heading: 'Daar is nog niks om by hierdie betaalpunt te betaal nie',
    note: 'Wag totdat die kassier klaar is en betaal dan hier.',
    again: 'Hierdie bladsy kyk elke paar sekondes weer.',
  },

  unknownCode: {
    heading: 'Hierdie kode kan nie hier betaal word nie',
    note: 'Dit is onvolledig of nie meer geldig nie. By ’n betaalpunt, skandeer dit met ’n betaaltoep; gaan anders terug na waar dit gewys is.',
  },

  declines: {
    '10': {
      title: 'Jou bank het die betaling geweier',
      next: 'Niks is gehef nie. Gebruik ’n ander kaart, of vra jou bank en probeer weer.',
    },
    '11': {
      title: 'Daar is nie genoeg geld op hierdie kaart nie',
      next: 'Niks is gehef nie. Gebruik ’n ander kaart, of betaal geld in en probeer weer.',
    },
    '12': {
      title: 'Hierdie kaart het verval',
      next: 'Niks is gehef nie. Gaan die vervaldatum na, of gebruik ’n ander kaart.',
    },
    '13': {
      title: 'Hierdie kaart is nie aanvaar nie',
      next: 'Niks is gehef nie. Gaan die kaartnommer na, of gebruik ’n ander kaart.',
    },
    '14': {
      title: 'Die CVV is nie korrek nie',
      next: 'Niks is gehef nie. Gaan die CVV op jou kaart of in jou bank se app na, en probeer weer.',
    },
    '15': {
      title: 'Jou bank het die betaling gestop',
      next: 'Niks is gehef nie. Bel die nommer agterop jou kaart, of gebruik ’n ander kaart.',
    },
    '16': {
      title: 'Jou bank kon jou nie verifieer nie',
      next: 'Niks is gehef nie. Probeer weer, of gebruik ’n ander kaart.',
    },
    '17': {
      title: 'Die verifikasie is nie voltooi nie',
      next: 'Niks is gehef nie. Probeer weer en bevestig die betaling by jou bank.',
    },
    '18': {
      title: 'Die bedrag is bo jou kaart se limiet',
      next: 'Niks is gehef nie. Verhoog die limiet by jou bank, of gebruik ’n ander kaart.',
    },
    '20': {
      title: 'Dit is intussen betaal of gesluit',
      next: 'Niks meer is gehef nie. Gaan terug na die winkel om jou bestelling te sien.',
    },
    '22': {
      title: 'Die bedrag van die bestelling het verander',
      next: 'Niks is gehef nie. Gaan die bedrag na wat hier gewys word en betaal weer.',
    },
    '23': {
      title: '’n Ander betaling vir hierdie bestelling was aan die gang',
      next: 'Gaan die bedrag na en probeer weer. Jy sal nie twee keer betaal nie.',
    },
    '30': {
      title: 'Jou bank kon nie bereik word nie',
      next: 'Niks is gehef nie. Wag ’n oomblik en probeer weer, of gebruik ’n ander kaart.',
    },
    '31': {
      title: 'Jou bank het nie die betaling bevestig nie',
      next: 'As jou bank die bedrag wys, word dit teruggegee. Probeer weer, of gebruik ’n ander kaart.',
    },
  },
  unknownDecline: {
    title: 'Die betaling het nie geslaag nie',
    next: 'Probeer weer, of gebruik ’n ander kaart.',
  },

  merchantContact: {
    questions: 'Vrae? Kontak {merchant}:',
    helpPage: 'Hulpbladsy',
    terms: 'Bepalings en voorwaardes',
  },

  receiptMail: {
    summary: 'Stuur die kwitansie per e-pos',
    address: 'E-posadres',
    send: 'Stuur die kwitansie',
    note: 'Die adres word net vir hierdie e-pos gebruik en word nie gestoor nie.',
    sent: 'Die kwitansie is gestuur. Dit kan ’n paar minute neem om aan te kom.',
    failed: 'Die kwitansie kon nie gestuur word nie. Jou betaling is nie geraak nie. Probeer weer.',
    limited:
      'Vandag kan nie nog kwitansies vir hierdie betaling of na hierdie adres gestuur word nie. Jou betaling is nie geraak nie.',
    invalid:
      'Die kwitansie is nie gestuur nie, want hierdie e-posadres is nie korrek nie. Gaan dit na en probeer weer.',
    subject: 'Kwitansie van {merchant}: {amount}',
    heading: 'Jou betaling aan {merchant}',
    reason:
      'Jy kry hierdie e-pos omdat hierdie adres op die betaalbladsy ingetik is. As jy dit nie gedoen het nie, kan jy dit uitvee.',
    reasonMerchant:
      'Jy kry hierdie e-pos omdat {merchant} die kwitansie aan jou gestuur het. As jy nie daar betaal het nie, kan jy dit uitvee.',
  },
};
