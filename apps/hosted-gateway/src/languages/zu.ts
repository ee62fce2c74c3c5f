import type { Messages } from './en.js';

/** isiZulu. en.ts describes the keys. */
export const zu: Messages = {
  name: 'isiZulu',

  format: {
    decimalMark: '.',
    dateTime: '{day} {month} {year} ngo-{time}',
    months: [
      'Januwari',
      'Februwari',
      'Mashi',
      'Ephreli',
      'Meyi',
      'Juni',
      'Julayi',
      'Agasti',
      'Septhemba',
      'Okthoba',
      'Novemba',
      'Disemba',
    ],
  },

  language: {
    label: 'Ulimi',
    confirmLanguageChange:
      'Ikhasi lizovulwa kabusha ngolunye ulimi, futhi kuzodingeka ufake imininingwane yekhadi kabusha. Uyaqhubeka?',
  },

  page: {
    yourOrder: 'I-oda lakho',
    order: 'I-oda',
    moreDetails: 'Imininingwane eyengeziwe',
    items: 'Izinto ezingu-{count}',
    total: 'Isamba',
    shipping: 'Ukulethwa',
    tax: 'I-VAT',
    taxIncluded: 'I-VAT ifakiwe',
    backToStore: 'Buyela esitolo',
    payTitle: 'Khokha {amount} ku-{merchant}',
    stateTitle: '{heading} · {merchant}',
    footer: 'Imininingwane yekhadi lakho ibethelwa kule bhrawuza ngaphambi kokuba ithunyelwe.',
    test: 'ISIVIVINYO: akukho mali ehambayo',
    footerPlain: 'Izinkokhelo eziphephile nge-Svc Payments',
    chargeReversed: 'Inkokhelo iphothulwe sekwephuzile, imali ibuyiselwe ekhadini lakho. Akukho okumele ukwenze.',
    noScript:
      'Ukukhokha ngekhadi kudinga i-JavaScript, ngoba imininingwane yekhadi lakho ibethelwa kule bhrawuza ngaphambi ' +
      'kokuba ithunyelwe. Sicela uvule i-JavaScript bese ulayisha kabusha ikhasi, noma ubuyele esitolo. Akukho mali ' +
      'ekhokhisiwe.',
  },

  form: {
    heading: 'Khokha ngekhadi',
    acceptedCards: 'Amakhadi amukelwayo',
    cardNumber: 'Inombolo yekhadi',
    cardNumberPlaceholder: '1234 1234 1234 1234',
    expiry: 'Usuku lokuphelelwa',
    expiryPlaceholder: 'MM / YY',
    cvv: 'I-CVV',
    cvvHintEither: 'Izinombolo ezi-3 ngemuva, noma ezi-4 ngaphambili',
    cvvHint: 'Izinombolo ezi-3 ngemuva',
    cvvHintFour: 'Izinombolo ezi-4 ngaphambili',
    holderName: 'Igama elisekhadini',
    pay: 'Khokha',
    lastPayment: 'Lona umzamo wakho wokugcina.',
    paymentsLeft: 'Kusele imizamo engu-{left} kwengu-{payments}.',
    expiring:
      'Ungakhokha lapha kuze kube {time}. Emva kwalokho akukho mali ezokhokhwa, futhi ungaqala kabusha ukukhokha esitolo.',
    moreTime: 'Nginike eminye imizuzu engu-15',
    stillLoading: 'Ifomu lisalayisha. Uma kungenzeki lutho,',
    reload: 'layisha ikhasi kabusha',
  },

  byCode: {
    heading: 'Khokha ngenye idivayisi',
    summary: 'Khokha ngenye idivayisi',
    imageDescription: 'Ikhodi ye-QR evula le nkokhelo efonini',
    note: 'Skena le khodi ngekhamera yenye idivayisi, noma nge-app yokukhokha eyisekelayo le khodi.',
    continuesAutomatically: 'Leli khasi likhombisa irisidi uma inkokhelo isiphothuliwe.',
  },

  choice: {
    amount: 'Inani ozolikhokha',
    tip: 'Ithiphu (uma uthanda)',
  },

  choiceErrors: {
    notAnAmount: 'Faka inani elifana no-12.50.',
    tooLittle: 'Ungakhokha u-{least} noma ngaphezulu.',
    tooMuch: 'Ungakhokha okungeqi ku-{most} lapha.',
  },

  fieldErrors: {
    cardNumberMissing: 'Faka inombolo yekhadi.',
    cardNumberWrong: 'Le nombolo yekhadi ayilungile. Hlola izinombolo.',
    expiryMissing: 'Faka usuku lokuphelelwa kanje: MM / YY.',
    expiryMonth: 'Inyanga kumele ibe ngu-01 kuya ku-12.',
    expiryPast: 'Leli khadi liphelelwe isikhathi. Hlola usuku lokuphelelwa, noma usebenzise elinye ikhadi.',
    expiryFar: 'Hlola unyaka.',
    cvvMissing: 'Faka i-CVV.',
    cvvWrong: 'I-CVV yaleli khadi inezinombolo ezingu-{digits}.',
    cvvWrongEither: 'I-CVV inezinombolo ezi-3 noma ezi-4.',
    holderNameMissing: 'Faka igama elisekhadini.',
    holderNameLong: 'Sebenzisa izinhlamvu ezingeqi ku-{max}.',
  },

  formErrors: {
    otherPayerFailed: 'Inkokhelo ngenye idivayisi ayiphumelelanga. Ungakhokha lapha.',
    refused: 'Inkokhelo ayamukelwanga. Hlola imininingwane yakho bese uzama futhi.',
    tooMany:
      'Ziningi izinkokhelo ezenziwa kunethiwekhi yakho manje. Akukho mali ekhokhisiwe. Linda isikhashana bese ucindezela u-Khokha futhi.',
    notSent:
      'Asikwazanga ukuthumela inkokhelo yakho. Hlola uxhumano lwakho bese ucindezela u-Khokha futhi: ngeke ukhokhiswe kabili.',
    insecure: 'Leli khasi livulwe ngoxhumano olungaphephile, ngakho awukwazi ukukhokha ngekhadi lapha.',
    cannotEncrypt:
      'Imininingwane yekhadi lakho ayikwazanga ukubethelwa. Akukho okuthunyelwe. Layisha kabusha ikhasi bese uzama futhi.',
    challengeFailed:
      'Ukuhlola kokuphepha kudivayisi yakho kuthathe isikhathi eside kakhulu. Akukho mali ekhokhisiwe. Cindezela u-Khokha futhi.',
  },

  refusals: {
    'card-key.not-in-use':
      'Leli khasi seliphelelwe yisikhathi. Lilayishe kabusha bese uzama futhi. Akukho mali ekhokhisiwe.',
    'live-mode.unavailable': 'Awukakwazi ukukhokha ngekhadi lapha. Akukho mali ekhokhisiwe.',
    'card.too-many-attempts':
      'Leli khadi alikwazi ukusetshenziswa lapha njengamanje. Sebenzisa elinye ikhadi, noma uzame futhi kamuva. Akukho mali ekhokhisiwe.',
    'payable.mismatch': 'Inani le-oda lishintshile. Layisha kabusha ikhasi bese ulihlola. Akukho mali ekhokhisiwe.',
  },

  challenge: {
    heading: 'Sicela ulinde kancane',
    note: 'Idivayisi yakho yenza ukuhlola kokuphepha okufushane okuvikela amakhadi ekusetshenzisweni kabi. Akukho okudingeka ukwenze. Ifomu lizovela uma ukuhlola sekuqediwe.',
    progress: 'Sekwenziwe u-{percent} %.',
    done: 'Kuqediwe. Ungakhokha manje.',
  },

  processing: {
    sendingHeading: 'Sithumela inkokhelo yakho…',
    busyHeading: 'Ziningi izinkokhelo ezenziwa kunethiwekhi yakho manje',
    offlineHeading: 'Awuxhunyiwe ku-inthanethi',
    offlineNote:
      'Inkokhelo yakho ayikathunyelwa, futhi akukho mali ekhokhisiwe. Gcina leli khasi livuliwe: lizothumela inkokhelo uma usuxhumekile futhi.',
    heading: 'Siqinisekisa nebhange lakho…',
    note: 'Lokhu kuthatha imizuzwana embalwa. Sicela ugcine leli khasi livuliwe.',
    lateHeading: 'Lokhu kuthatha isikhathi eside kunokuvamile',
    stillChecking: 'Sisalinde ibhange lakho. Ungaphindi ukhokhe.',
    lateNote:
      'Leli khasi likhombisa umphumela uma ibhange lakho liwuqinisekisa. Ungalivala: inkokhelo iyaqhubeka ngaphandle kwaleli khasi.',
    noScript: 'Leli khasi liyahlola futhi njalo ngemizuzwana embalwa.',
  },

  verification: {
    heading: 'Qinisekisa inkokhelo nebhange lakho',
    note: 'Ibhange lakho lifuna ukuqiniseka ukuthi nguwe. Akukho mali ekhokhiswayo ngaphambi kokuthi uqinisekise.',
    continueToBank: 'Qhubekela ebhange lakho',
    anotherCard: 'Sebenzisa elinye ikhadi',
    until: 'Ungaqinisekisa kuze kube',
  },

  paid: {
    heading: 'Inkokhelo iphumelele',
    alreadyHeading: 'Leli oda selikhokhiwe',
    alreadyNote: 'Akusekho okumele kukhokhwe.',
    amount: 'Inani',
    card: 'Ikhadi',
    reference: 'Inombolo yenkokhelo',
    date: 'Usuku',
    next: 'Siqinisekisa inkokhelo yakho esitolo. Uma unombuzo nge-oda lakho, xhumana nesitolo bese unikeza inombolo yenkokhelo.',
    returnTo: 'Buyela ku-{merchant}',
    returning: 'Uzobuyela esitolo maduze.',
    stay: 'Hlala kuleli khasi',
    print: 'Phrinta noma ulondoloze irisidi',
    scanned: 'Enye idivayisi nayo ikhombisa inkokhelo. Ungalivala leli khasi.',
    atTill: 'Ikhawunta yokukhokha nayo ithola isiqinisekiso. Ungalivala leli khasi.',
    requested: 'Umthumeli wesicelo naye uthola isiqinisekiso. Ungalivala leli khasi.',
  },

  closed: {
    refused: {
      heading: 'Le nkokhelo ayikwazi ukuzanywa futhi',
      note: 'Imizamo engu-{payments} ayiphumelelanga. Akukho mali ekhokhisiwe. Buyela esitolo ukhethe enye indlela yokukhokha.',
    },
    expired: {
      heading: 'Leli khasi lokukhokha liphelelwe isikhathi',
      note: 'Akukho mali ekhokhisiwe. Buyela esitolo bese uqala inkokhelo kabusha.',
    },
    cancelled: {
      heading: 'Le nkokhelo ikhanseliwe',
      note: 'Akukho mali ekhokhisiwe. Buyela esitolo uma usafuna ukukhokha.',
    },
  },

  closedAtTill: {
    refused: {
      heading: 'Le nkokhelo ayikwazi ukuzanywa futhi lapha',
      note: 'Amakhadi amaningi kakhulu anqatshiwe. Akukho mali ekhokhisiwe. Buza ekhawunteni ukuthi ungakhokha kanjani ngenye indlela.',
    },
    paused: {
      heading: 'Le khodi ivaliwe imizuzu embalwa',
      note: 'Amakhadi amaningi kakhulu anqatshiwe lapha. Akukho mali ekhokhisiwe. Skena ikhodi ekhonjiswa yikhawunta yale ntengo, khokha nge-app yokukhokha, noma uzame futhi emizuzwini eyishumi.',
    },
    expired: {
      heading: 'Le khodi iphelelwe isikhathi',
      note: 'Akukho mali ekhokhisiwe. Cela ikhodi entsha ekhawunteni.',
    },
    cancelled: {
      heading: 'Le khodi ayisasetshenziswa',
      note: 'Akukho mali ekhokhisiwe. Ikhawunta iyishintshile noma iyivalile le ntengo: skena ikhodi eyikhombisa manje.',
    },
  },

  closedRequest: {
    refused: {
      heading: 'Le nkokhelo ayikwazi ukuzanywa futhi',
      note: 'Amakhadi amaningi kakhulu anqatshiwe. Akukho mali ekhokhisiwe. Buza umthumeli wesicelo ukuthi ungakhokha kanjani ngenye indlela.',
    },
    expired: {
      heading: 'Lesi sicelo senkokhelo siphelelwe isikhathi',
      note: 'Akukho mali ekhokhisiwe. Cela umthumeli akunike isixhumanisi esisha.',
    },
    cancelled: {
      heading: 'Lesi sicelo senkokhelo sikhanseliwe',
      note: 'Akukho mali ekhokhisiwe. Buza umthumeli wesicelo uma unombuzo.',
    },
  },

  notFound: {
    heading: 'Leli khasi lokukhokha alikho',
    note: 'Ikheli aliphelele noma alisasebenzi. Buyela esitolo bese uqala inkokhelo kabusha.',
  },

  unavailable: {
    heading: 'Leli khasi alitholakali okwamanje',
    note: 'Uma usuvele ucindezele u-Khokha, ungaphindi ukhokhe: inkokhelo yakho ayilahlekile, futhi leli khasi lizokhombisa umphumela.',
    again: 'Leli khasi lizama futhi njalo ngemizuzwana embalwa. Ungalivala futhi ubuye kamuva.',
  },

  atTill: {
    heading: 'Akukabikho okufanele kukhokhwe kule khawunta',
    note: 'Linda umkhokhisi aze aqede, bese ukhokha lapha.',
    again: 'Leli khasi liyahlola futhi njalo ngemizuzwana embalwa.',
  },

  unknownCode: {
    heading: 'Le khodi ayikwazi ukukhokhwa lapha',
    note: 'Ayiphelele noma ayisasebenzi. Ekhawunteni yokukhokha, yiskene nge-app yokukhokha; uma kungenjalo buyela lapho ibikhonjiswe khona.',
  },

  declines: {
    '10': {
      title: 'Ibhange lakho linqabile inkokhelo',
      next: 'Akukho mali ekhokhisiwe. Sebenzisa elinye ikhadi, noma ubuze ibhange lakho bese uzama futhi.',
    },
    '11': {
      title: 'Ayikho imali eyanele kuleli khadi',
      next: 'Akukho mali ekhokhisiwe. Sebenzisa elinye ikhadi, noma ufake imali bese uzama futhi.',
    },
    '12': {
      title: 'Leli khadi liphelelwe isikhathi',
      next: 'Akukho mali ekhokhisiwe. Hlola usuku lokuphelelwa, noma usebenzise elinye ikhadi.',
    },
    '13': {
      title: 'Leli khadi alamukelwanga',
      next: 'Akukho mali ekhokhisiwe. Hlola inombolo yekhadi, noma usebenzise elinye ikhadi.',
    },
    '14': {
      title: 'I-CVV ayilungile',
      next: 'Akukho mali ekhokhisiwe. Hlola i-CVV ekhadini lakho noma ku-app yebhange lakho bese uzama futhi.',
    },
    '15': {
      title: 'Ibhange lakho limise inkokhelo',
      next: 'Akukho mali ekhokhisiwe. Shayela inombolo engemuva kwekhadi lakho, noma usebenzise elinye ikhadi.',
    },
    '16': {
      title: 'Ibhange lakho alikwazanga ukukuqinisekisa',
      next: 'Akukho mali ekhokhisiwe. Zama futhi, noma usebenzise elinye ikhadi.',
    },
    '17': {
      title: 'Ukuqinisekisa akuqediwe',
      next: 'Akukho mali ekhokhisiwe. Zama futhi bese uqinisekisa inkokhelo nebhange lakho.',
    },
    '18': {
      title: 'Inani lingaphezu komkhawulo wekhadi lakho',
      next: 'Akukho mali ekhokhisiwe. Khuphula umkhawulo nebhange lakho, noma usebenzise elinye ikhadi.',
    },
    '20': {
      title: 'Lokhu sekukhokhiwe noma kuvaliwe phakathi naleso sikhathi',
      next: 'Akukho enye imali ekhokhisiwe. Buyela esitolo ukuze ubone i-oda lakho.',
    },
    '22': {
      title: 'Inani le-oda lishintshile',
      next: 'Akukho mali ekhokhisiwe. Hlola inani elikhonjiswe lapha bese ukhokha futhi.',
    },
    '23': {
      title: 'Bekukhona enye inkokhelo yaleli oda ebisaqhubeka',
      next: 'Hlola inani bese uzama futhi. Ngeke ukhokhiswe kabili.',
    },
    '30': {
      title: 'Ibhange lakho alitholakalanga',
      next: 'Akukho mali ekhokhisiwe. Linda isikhashana bese uzama futhi, noma usebenzise elinye ikhadi.',
    },
    '31': {
      title: 'Ibhange lakho aliyiqinisekisanga inkokhelo',
      next: 'Uma ibhange lakho likhombisa inani, liyabuyiselwa. Zama futhi, noma usebenzise elinye ikhadi.',
    },
  },
  unknownDecline: {
    title: 'Inkokhelo ayiphumelelanga',
    next: 'Zama futhi, noma usebenzise elinye ikhadi.',
  },

  merchantContact: {
    questions: 'Unemibuzo? Xhumana no-{merchant}:',
    helpPage: 'Ikhasi losizo',
    terms: 'Imigomo nemibandela',
  },

  receiptMail: {
    summary: 'Thumela irisidi nge-imeyili',
    address: 'Ikheli le-imeyili',
    send: 'Thumela irisidi',
    note: 'Ikheli lisetshenziselwa le imeyili kuphela, futhi aligcinwa.',
    sent: 'Irisidi lithunyelwe. Kungathatha imizuzu embalwa ukuthi lifike.',
    failed: 'Irisidi alikwazanga ukuthunyelwa. Inkokhelo yakho ayithintekile. Zama futhi.',
    limited:
      'Awekho amanye amarisidi angathunyelwa namuhla ale nkokhelo noma kuleli kheli. Inkokhelo yakho ayithintekile.',
    invalid: 'Irisidi alithunyelwanga, ngoba leli kheli le-imeyili alilungile. Lihlole bese uzama futhi.',
    subject: 'Irisidi evela ku-{merchant}: {amount}',
    heading: 'Inkokhelo yakho eya ku-{merchant}',
    reason:
      'Uthola le imeyili ngoba leli kheli libhalwe ekhasini lokukhokha. Uma kungewena okwenzile lokhu, ungayisusa.',
    reasonMerchant: 'Uthola le imeyili ngoba u-{merchant} ukuthumelele irisidi. Uma ungakhokhanga lapho, ungayisusa.',
  },
};
