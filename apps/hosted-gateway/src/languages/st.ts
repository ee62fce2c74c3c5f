import type { Messages } from './en.js';

/** Sesotho, in the spelling of South Africa. en.ts describes the keys. */
export const st: Messages = {
  name: 'Sesotho',

  format: {
    decimalMark: '.',
    dateTime: '{day} {month} {year} ka {time}',
    months: [
      'Pherekgong',
      'Hlakola',
      'Hlakubele',
      'Mmesa',
      'Motsheanong',
      'Phupjane',
      'Phupu',
      'Phato',
      'Lwetse',
      'Mphalane',
      'Pudungwana',
      'Tshitwe',
    ],
  },

  language: {
    label: 'Puo',
    confirmLanguageChange:
      'Leqephe le tla bulwa hape ka puo e nngwe, mme o tla tlameha ho kenya dintlha tsa karete hape. O tswela pele?',
  },

  page: {
    yourOrder: 'Odara ya hao',
    order: 'Odara',
    moreDetails: 'Dintlha tse ding',
    items: 'Dintho tse {count}',
    total: 'Kakaretso',
    shipping: 'Thomelo',
    tax: 'Lekgetho la VAT',
    taxIncluded: 'Lekgetho la VAT le kenyeleditsweng',
    backToStore: 'Kgutlela lebenkeleng',
    payTitle: 'Lefa {amount} ho {merchant}',
    stateTitle: '{heading} · {merchant}',
    footer: 'Dintlha tsa karete ya hao di kenngwa khoutu ho browser ena pele di romelwa.',
    test: 'TEKO: ha ho tjhelete e tsamayang',
    footerPlain: 'Ditefo tse sireletsehileng ka Svc Payments',
    chargeReversed:
      'Tefo e phethilwe morao ho nako, mme tjhelete e kgutliseditswe kareteng ya hao. Ha ho letho leo o lokelang ho le etsa.',
    noScript:
      'Ho lefa ka karete ho hloka JavaScript, hobane dintlha tsa karete ya hao di kenngwa khoutu ho browser ena pele di ' +
      'romelwa. Ka kopo bulela JavaScript mme o bule leqephe hape, kapa o kgutlele lebenkeleng. Ha ho tjhelete e ' +
      'lefisitsweng.',
  },

  form: {
    heading: 'Lefa ka karete',
    acceptedCards: 'Dikarete tse amohelwang',
    cardNumber: 'Nomoro ya karete',
    cardNumberPlaceholder: '1234 1234 1234 1234',
    expiry: 'E fella ka',
    expiryPlaceholder: 'MM / YY',
    cvv: 'CVV',
    cvvHintEither: 'Dinomoro tse 3 ka morao, kapa tse 4 ka pele',
    cvvHint: 'Dinomoro tse 3 ka morao',
    cvvHintFour: 'Dinomoro tse 4 ka pele',
    holderName: 'Lebitso le kareteng',
    pay: 'Lefa',
    lastPayment: 'Ena ke teko ya hao ya ho qetela.',
    paymentsLeft: 'Ho setse diteko tse {left} ho tse {payments}.',
    expiring:
      'O ka lefa mona ho fihlela ka {time}. Kamora moo ha ho tjhelete e tla lefiswa, mme o ka qala tefo hape lebenkeleng.',
    moreTime: 'Mphe metsotso e meng e 15',
    stillLoading: 'Foromo e ntse e buleha. Haeba ho sa etsahale letho,',
    reload: 'bula leqephe hape',
  },

  byCode: {
    heading: 'Lefa ka sesebediswa se seng',
    summary: 'Lefa ka sesebediswa se seng',
    imageDescription: 'Khoutu ya QR e bulang tefo ena founong',
    note: 'Sekena khoutu ena ka khamera ya sesebediswa se seng, kapa ka app ya ho lefa e tshehetsang khoutu ena.',
    continuesAutomatically: 'Leqephe lena le bontsha rasiti ha tefo e phethilwe.',
  },

  choice: {
    amount: 'Tjhelete e lefuwang',
    tip: 'Thipi (haeba o rata)',
  },

  choiceErrors: {
    notAnAmount: 'Kenya tjhelete e kang 12.50.',
    tooLittle: 'O ka lefa {least} kapa ho feta.',
    tooMuch: 'O ka lefa e sa feteng {most} mona.',
  },

  fieldErrors: {
    cardNumberMissing: 'Kenya nomoro ya karete.',
    cardNumberWrong: 'Nomoro ena ya karete ha e a nepahala. Hlahloba dinomoro.',
    expiryMissing: 'Kenya letsatsi la ho fellwa tjena: MM / YY.',
    expiryMonth: 'Kgwedi e lokela ho ba 01 ho isa ho 12.',
    expiryPast: 'Karete ena e feletswe ke nako. Hlahloba letsatsi la ho fellwa, kapa o sebedise karete e nngwe.',
    expiryFar: 'Hlahloba selemo.',
    cvvMissing: 'Kenya CVV.',
    cvvWrong: 'CVV ya karete ena e na le dinomoro tse {digits}.',
    cvvWrongEither: 'CVV e na le dinomoro tse 3 kapa tse 4.',
    holderNameMissing: 'Kenya lebitso le kareteng.',
    holderNameLong: 'Sebedisa ditlhaku tse sa feteng {max}.',
  },

  formErrors: {
    otherPayerFailed: 'Tefo ka sesebediswa se seng ha e a atleha. O ka lefa mona.',
    refused: 'Tefo ha e a amohelwa. Hlahloba dintlha tsa hao mme o leke hape.',
    tooMany:
      'Ho etswa ditefo tse ngata marangrang a hao hajwale. Ha ho tjhelete e lefisitsweng. Ema hanyane mme o tobetse Lefa hape.',
    notSent:
      'Ha re a kgona ho romela tefo ya hao. Hlahloba kgokelo ya hao mme o tobetse Lefa hape: o ke ke wa lefiswa habedi.',
    insecure: 'Leqephe lena le butswe ka kgokelo e sa sireletsehang, kahoo o ke ke wa lefa ka karete mona.',
    cannotEncrypt:
      'Dintlha tsa karete ya hao ha di a kgona ho kenngwa khoutu. Ha ho letho le rometsweng. Bula leqephe hape mme o leke hape.',
    challengeFailed:
      'Tlhahlobo ya tshireletso sesebedisweng sa hao e nkile nako e telele haholo. Ha ho tjhelete e lefisitsweng. Tobetsa Lefa hape.',
  },

  refusals: {
    'card-key.not-in-use': 'Leqephe lena ke la kgale. Le bule hape mme o leke hape. Ha ho tjhelete e lefisitsweng.',
    'live-mode.unavailable': 'O ke ke wa lefa ka karete mona hajwale. Ha ho tjhelete e lefisitsweng.',
    'card.too-many-attempts':
      'Karete ena e ke ke ya sebediswa mona hajwale. Sebedisa karete e nngwe, kapa o leke hape hamorao. Ha ho tjhelete e lefisitsweng.',
    'payable.mismatch':
      'Tjhelete ya odara e fetohile. Bula leqephe hape mme o e hlahlobe. Ha ho tjhelete e lefisitsweng.',
  },

  challenge: {
    heading: 'Ka kopo ema hanyane',
    note: 'Sesebediswa sa hao se etsa tlhahlobo e kgutshwane ya tshireletso e sireletsang dikarete tshebedisong e mpe. Ha ho letho leo o lokelang ho le etsa. Foromo e tla hlaha ha tlhahlobo e phethilwe.',
    progress: 'Ho phethilwe {percent} %.',
    done: 'Ho phethilwe. O ka lefa jwale.',
  },

  processing: {
    sendingHeading: 'Re romela tefo ya hao…',
    busyHeading: 'Ho etswa ditefo tse ngata marangrang a hao hajwale',
    offlineHeading: 'Ha o a hokelwa inthaneteng',
    offlineNote:
      'Tefo ya hao ha e eso romelwe, mme ha ho tjhelete e lefisitsweng. Boloka leqephe lena le butswe: le tla romela tefo ha o se o hokeletswe hape.',
    heading: 'Re netefatsa le banka ya hao…',
    note: 'Sena se nka metsotswana e mmalwa. Ka kopo boloka leqephe lena le butswe.',
    lateHeading: 'Sena se nka nako e telele ho feta kamehla',
    stillChecking: 'Re sa emetse banka ya hao. O se ke wa lefa hape.',
    lateNote:
      'Leqephe lena le bontsha sephetho ha banka ya hao e se netefatsa. O ka le kwala: tefo e tswela pele ntle le leqephe lena.',
    noScript: 'Leqephe lena le sheba hape kamora metsotswana e mmalwa.',
  },

  verification: {
    heading: 'Netefatsa tefo le banka ya hao',
    note: 'Banka ya hao e batla ho etsa bonnete ba hore ke wena. Ha ho tjhelete e lefiswang pele o netefatsa.',
    continueToBank: 'Tswela pele ho ya bankeng ya hao',
    anotherCard: 'Sebedisa karete e nngwe',
    until: 'O ka netefatsa ho fihlela ka',
  },

  paid: {
    heading: 'Tefo e atlehile',
    alreadyHeading: 'Odara ena e se e lefilwe',
    alreadyNote: 'Ha ho sa na letho le lokelang ho lefuwa.',
    amount: 'Tjhelete',
    card: 'Karete',
    reference: 'Nomoro ya tefo',
    date: 'Letsatsi',
    next: 'Re netefatsa tefo ya hao lebenkeleng. Haeba o na le potso ka odara ya hao, ikopanye le lebenkele mme o fane ka nomoro ya tefo.',
    returnTo: 'Kgutlela ho {merchant}',
    returning: 'O tla kgutlela lebenkeleng haufinyane.',
    stay: 'Dula leqepheng lena',
    print: 'Hatisa kapa o boloke rasiti',
    scanned: 'Sesebediswa se seng le sona se bontsha tefo. O ka kwala leqephe lena.',
    atTill: 'Khaontara ya ho lefa le yona e fumana netefatso. O ka kwala leqephe lena.',
    requested: 'Motho ya rometseng kopo le yena o fumana netefatso. O ka kwala leqephe lena.',
  },

  closed: {
    refused: {
      heading: 'Tefo ena e ke ke ya lekwa hape',
      note: 'Diteko tse {payments} ha di a atleha. Ha ho tjhelete e lefisitsweng. Kgutlela lebenkeleng ho kgetha mokgwa o mong wa ho lefa.',
    },
    expired: {
      heading: 'Leqephe lena la tefo le feletswe ke nako',
      note: 'Ha ho tjhelete e lefisitsweng. Kgutlela lebenkeleng mme o qale tefo hape.',
    },
    cancelled: {
      heading: 'Tefo ena e hlakotswe',
      note: 'Ha ho tjhelete e lefisitsweng. Kgutlela lebenkeleng haeba o ntse o batla ho lefa.',
    },
  },

  closedAtTill: {
    refused: {
      heading: 'Tefo ena e ke ke ya lekwa hape mona',
      note: 'Dikarete tse ngata haholo di hannwe. Ha ho tjhelete e lefisitsweng. Botsa khaontareng hore o ka lefa jwang ka tsela e nngwe.',
    },
    paused: {
      heading: 'Khoutu ena e kwetswe metsotso e mmalwa',
      note: 'Dikarete tse ngata haholo di hannwe mona. Ha ho tjhelete e lefisitsweng. Sekena khoutu eo khaontara e e bontshang bakeng sa thekiso ena, lefa ka app ya ho lefa, kapa o leke hape ka mora metsotso e leshome.',
    },
    expired: {
      heading: 'Khoutu ena e feletswe ke nako',
      note: 'Ha ho tjhelete e lefisitsweng. Kopa khoutu e ntjha khaontareng.',
    },
    cancelled: {
      heading: 'Khoutu ena ha e sa sebediswa',
      note: 'Ha ho tjhelete e lefisitsweng. Khaontara e fetotse kapa e kwetse thekiso ena: sekena khoutu eo e e bontshang jwale.',
    },
  },

  closedRequest: {
    refused: {
      heading: 'Tefo ena e ke ke ya lekwa hape',
      note: 'Dikarete tse ngata haholo di hannwe. Ha ho tjhelete e lefisitsweng. Botsa motho ya rometseng kopo hore o ka lefa jwang ka tsela e nngwe.',
    },
    expired: {
      heading: 'Kopo ena ya tefo e feletswe ke nako',
      note: 'Ha ho tjhelete e lefisitsweng. Kopa motho ya e rometseng linki e ntjha.',
    },
    cancelled: {
      heading: 'Kopo ena ya tefo e hlakotswe',
      note: 'Ha ho tjhelete e lefisitsweng. Botsa motho ya rometseng kopo haeba o na le potso.',
    },
  },

  notFound: {
    heading: 'Leqephe lena la tefo ha le yo',
    note: 'Aterese ha e a fella kapa ha e sa sebetsa. Kgutlela lebenkeleng mme o qale tefo hape.',
  },

  unavailable: {
    heading: 'Leqephe lena ha le fumanehe hajwale',
    note: 'Haeba o se o tobeditse Lefa, o se ke wa lefa hape: tefo ya hao ha e a lahleha, mme leqephe lena le tla bontsha sephetho.',
    again: 'Leqephe lena le leka hape kamora metsotswana e mmalwa. O ka le kwala mme wa kgutla hamorao.',
  },

  atTill: {
    heading: 'Ha ho eso be le letho la ho lefuwa khaontareng ena',
    note: 'Ema ho fihlela molefisi a qetile, ebe o lefa mona.',
    again: 'Leqephe lena le sheba hape kamora metsotswana e mmalwa.',
  },

  unknownCode: {
    heading: 'Khoutu ena e ke ke ya lefuwa mona',
    note: 'Ha e a fella kapa ha e sa sebetsa. Khaonteng ya ho lefa, e sekene ka app ya ho lefa; ho seng jwalo kgutlela moo e neng e bontshitswe teng.',
  },

  declines: {
    '10': {
      title: 'Banka ya hao e hanne tefo',
      next: 'Ha ho tjhelete e lefisitsweng. Sebedisa karete e nngwe, kapa o botse banka ya hao mme o leke hape.',
    },
    '11': {
      title: 'Ha ho tjhelete e lekaneng kareteng ena',
      next: 'Ha ho tjhelete e lefisitsweng. Sebedisa karete e nngwe, kapa o kenye tjhelete mme o leke hape.',
    },
    '12': {
      title: 'Karete ena e feletswe ke nako',
      next: 'Ha ho tjhelete e lefisitsweng. Hlahloba letsatsi la ho fellwa, kapa o sebedise karete e nngwe.',
    },
    '13': {
      title: 'Karete ena ha e a amohelwa',
      next: 'Ha ho tjhelete e lefisitsweng. Hlahloba nomoro ya karete, kapa o sebedise karete e nngwe.',
    },
    '14': {
      title: 'CVV ha e a nepahala',
      next: 'Ha ho tjhelete e lefisitsweng. Hlahloba CVV e kareteng ya hao kapa e ho app ya banka ya hao mme o leke hape.',
    },
    '15': {
      title: 'Banka ya hao e emisitse tefo',
      next: 'Ha ho tjhelete e lefisitsweng. Letsetsa nomoro e ka morao ho karete ya hao, kapa o sebedise karete e nngwe.',
    },
    '16': {
      title: 'Banka ya hao ha e a kgona ho o netefatsa',
      next: 'Ha ho tjhelete e lefisitsweng. Leka hape, kapa o sebedise karete e nngwe.',
    },
    '17': {
      title: 'Netefatso ha e a phethwa',
      next: 'Ha ho tjhelete e lefisitsweng. Leka hape mme o netefatse tefo le banka ya hao.',
    },
    '18': {
      title: 'Tjhelete e feta moedi wa karete ya hao',
      next: 'Ha ho tjhelete e lefisitsweng. Phahamisa moedi le banka ya hao, kapa o sebedise karete e nngwe.',
    },
    '20': {
      title: 'Sena se lefilwe kapa se kwetswe nakong ena',
      next: 'Ha ho tjhelete e nngwe e lefisitsweng. Kgutlela lebenkeleng ho bona odara ya hao.',
    },
    '22': {
      title: 'Tjhelete ya odara e fetohile',
      next: 'Ha ho tjhelete e lefisitsweng. Hlahloba tjhelete e bontshitsweng mona mme o lefe hape.',
    },
    '23': {
      title: 'Ho ne ho ntse ho etswa tefo e nngwe bakeng sa odara ena',
      next: 'Hlahloba tjhelete mme o leke hape. O ke ke wa lefiswa habedi.',
    },
    '30': {
      title: 'Banka ya hao ha e a fumaneha',
      next: 'Ha ho tjhelete e lefisitsweng. Ema hanyane mme o leke hape, kapa o sebedise karete e nngwe.',
    },
    '31': {
      title: 'Banka ya hao ha e a netefatsa tefo',
      next: 'Haeba banka ya hao e bontsha tjhelete eo, e tla kgutliswa. Leka hape, kapa o sebedise karete e nngwe.',
    },
  },
  unknownDecline: {
    title: 'Tefo ha e a atleha',
    next: 'Leka hape, kapa o sebedise karete e nngwe.',
  },

  merchantContact: {
    questions: 'O na le dipotso? Ikopanye le {merchant}:',
    helpPage: 'Leqephe la thuso',
    terms: 'Dipehelo le maemo',
  },

  receiptMail: {
    summary: 'Romela rasiti ka imeile',
    address: 'Aterese ya imeile',
    send: 'Romela rasiti',
    note: 'Aterese e sebediswa bakeng sa imeile ena feela, mme ha e bolokwe.',
    sent: 'Rasiti e rometswe. E ka nka metsotso e mmalwa ho fihla.',
    failed: 'Rasiti ha e a kgona ho romelwa. Tefo ya hao ha e a ameha. Leka hape.',
    limited:
      'Ha ho dirasiti tse ding tse ka romelwang kajeno bakeng sa tefo ena kapa atereseng ena. Tefo ya hao ha e a ameha.',
    invalid: 'Rasiti ha e a romelwa, hobane aterese ena ya imeile ha e a nepahala. E hlahlobe mme o leke hape.',
    subject: 'Rasiti e tswang ho {merchant}: {amount}',
    heading: 'Tefo ya hao ho {merchant}',
    reason:
      'O fumana imeile ena hobane aterese ena e ngotswe leqepheng la tefo. Haeba ha se wena ya entseng sena, o ka e hlakola.',
    reasonMerchant: 'O fumana imeile ena hobane {merchant} o o rometse rasiti. Haeba ha o a lefa moo, o ka e hlakola.',
  },
};
