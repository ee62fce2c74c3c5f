import type { Messages } from './en.js';

/** isiXhosa. en.ts describes the keys. */
export const xh: Messages = {
  name: 'isiXhosa',

  format: {
    decimalMark: '.',
    dateTime: '{day} {month} {year} ngo-{time}',
    months: [
      'Janyuwari',
      'Februwari',
      'Matshi',
      'Epreli',
      'Meyi',
      'Juni',
      'Julayi',
      'Agasti',
      'Septemba',
      'Okthoba',
      'Novemba',
      'Disemba',
    ],
  },

  language: {
    label: 'Ulwimi',
    confirmLanguageChange:
      'Iphepha liza kuvulwa kwakhona ngolunye ulwimi, kwaye kuza kufuneka ufake iinkcukacha zekhadi kwakhona. Uyaqhubeka?',
  },

  page: {
    yourOrder: 'Iodolo yakho',
    order: 'Iodolo',
    moreDetails: 'Iinkcukacha ezingakumbi',
    items: 'Izinto ezi-{count}',
    total: 'Isixa sisonke',
    shipping: 'Ukuziswa',
    tax: 'I-VAT',
    taxIncluded: 'I-VAT iqukiwe',
    backToStore: 'Buyela evenkileni',
    payTitle: 'Hlawula {amount} ku-{merchant}',
    stateTitle: '{heading} · {merchant}',
    footer: 'Iinkcukacha zekhadi lakho ziguqulelwa ekhowudini kule bhrawuza phambi kokuba zithunyelwe.',
    test: 'UVAVANYO: akukho mali ihambayo',
    footerPlain: 'Iintlawulo ezikhuselekileyo nge-Svc Payments',
    chargeReversed: 'Intlawulo igqitywe emva kwexesha, imali ibuyiselwe kwikhadi lakho. Akukho nto kufuneka uyenze.',
    noScript:
      'Ukuhlawula ngekhadi kufuna iJavaScript, kuba iinkcukacha zekhadi lakho ziguqulelwa ekhowudini kule bhrawuza ' +
      'phambi kokuba zithunyelwe. Nceda ulayite iJavaScript uze ulayishe iphepha kwakhona, okanye ubuyele evenkileni. ' +
      'Akukho mali ihlawulisiweyo.',
  },

  form: {
    heading: 'Hlawula ngekhadi',
    acceptedCards: 'Amakhadi amkelwayo',
    cardNumber: 'Inombolo yekhadi',
    cardNumberPlaceholder: '1234 1234 1234 1234',
    expiry: 'Umhla wokuphelelwa',
    expiryPlaceholder: 'MM / YY',
    cvv: 'I-CVV',
    cvvHintEither: 'Amanani ama-3 ngasemva, okanye ama-4 ngaphambili',
    cvvHint: 'Amanani ama-3 ngasemva',
    cvvHintFour: 'Amanani ama-4 ngaphambili',
    holderName: 'Igama elisekhadini',
    pay: 'Hlawula',
    lastPayment: 'Eli lilinge lakho lokugqibela.',
    paymentsLeft: 'Kusele amalinge ama-{left} kwama-{payments}.',
    expiring:
      'Ungahlawula apha de kube {time}. Emva koko akukho mali iya kuhlawuliswa, kwaye ungaqala ngokutsha ukuhlawula evenkileni.',
    moreTime: 'Ndinike eminye imizuzu eli-15',
    stillLoading: 'Ifomu isalayisha. Ukuba akwenzeki nto,',
    reload: 'layisha iphepha kwakhona',
  },

  byCode: {
    heading: 'Hlawula ngesinye isixhobo',
    summary: 'Hlawula ngesinye isixhobo',
    imageDescription: 'Ikhowudi ye-QR evula le ntlawulo kwifowuni',
    note: 'Skena le khowudi ngekhamera yesinye isixhobo, okanye nge-app yokuhlawula eyixhasayo le khowudi.',
    continuesAutomatically: 'Eli phepha libonisa irisithi xa intlawulo igqityiwe.',
  },

  choice: {
    amount: 'Isixa oza kusihlawula',
    tip: 'Ithiphu (ukuba uyathanda)',
  },

  choiceErrors: {
    notAnAmount: 'Faka isixa esifana no-12.50.',
    tooLittle: 'Ungahlawula i-{least} nangaphezulu.',
    tooMuch: 'Ungahlawula engadlulanga kwi-{most} apha.',
  },

  fieldErrors: {
    cardNumberMissing: 'Faka inombolo yekhadi.',
    cardNumberWrong: 'Le nombolo yekhadi ayichanekanga. Jonga amanani.',
    expiryMissing: 'Faka umhla wokuphelelwa ngolu hlobo: MM / YY.',
    expiryMonth: 'Inyanga mayibe ngu-01 ukuya ku-12.',
    expiryPast: 'Eli khadi liphelelwe lixesha. Jonga umhla wokuphelelwa, okanye usebenzise elinye ikhadi.',
    expiryFar: 'Jonga unyaka.',
    cvvMissing: 'Faka i-CVV.',
    cvvWrong: 'I-CVV yeli khadi inamanani ama-{digits}.',
    cvvWrongEither: 'I-CVV inamanani ama-3 okanye ama-4.',
    holderNameMissing: 'Faka igama elisekhadini.',
    holderNameLong: 'Sebenzisa oonobumba abangagqithi kwi-{max}.',
  },

  formErrors: {
    otherPayerFailed: 'Intlawulo ngesinye isixhobo ayiphumelelanga. Ungahlawula apha.',
    refused: 'Intlawulo ayamkelwanga. Jonga iinkcukacha zakho uze uzame kwakhona.',
    tooMany:
      'Zininzi iintlawulo ezenziwa kuthungelwano lwakho ngoku. Akukho mali ihlawulisiweyo. Linda umzuzwana uze ucofe u-Hlawula kwakhona.',
    notSent:
      'Asikwazanga ukuthumela intlawulo yakho. Jonga uqhagamshelo lwakho uze ucofe u-Hlawula kwakhona: awuyi kuhlawuliswa kabini.',
    insecure: 'Eli phepha livulwe ngoqhagamshelo olungakhuselekanga, ngoko ke awunakuhlawula ngekhadi apha.',
    cannotEncrypt:
      'Iinkcukacha zekhadi lakho azikwazanga ukuguqulelwa ekhowudini. Akukho nto ithunyelweyo. Layisha iphepha kwakhona uze uzame kwakhona.',
    challengeFailed:
      'Uhlolo lokhuseleko kwisixhobo sakho luthathe ixesha elide kakhulu. Akukho mali ihlawulisiweyo. Cofa u-Hlawula kwakhona.',
  },

  refusals: {
    'card-key.not-in-use':
      'Eli phepha liphelelwe lixesha. Lilayishe kwakhona uze uzame kwakhona. Akukho mali ihlawulisiweyo.',
    'live-mode.unavailable': 'Awukakwazi ukuhlawula ngekhadi apha. Akukho mali ihlawulisiweyo.',
    'card.too-many-attempts':
      'Eli khadi alinakusetyenziswa apha okwangoku. Sebenzisa elinye ikhadi, okanye uzame kwakhona kamva. Akukho mali ihlawulisiweyo.',
    'payable.mismatch':
      'Isixa seodolo sitshintshile. Layisha iphepha kwakhona uze usijonge. Akukho mali ihlawulisiweyo.',
  },

  challenge: {
    heading: 'Nceda ulinde kancinci',
    note: 'Isixhobo sakho senza uhlolo lokhuseleko olufutshane olukhusela amakhadi ekusetyenzisweni gwenxa. Akukho nto kufuneka uyenze. Ifomu iza kuvela xa uhlolo lugqityiwe.',
    progress: 'Kugqitywe i-{percent} %.',
    done: 'Kugqityiwe. Ungahlawula ngoku.',
  },

  processing: {
    sendingHeading: 'Sithumela intlawulo yakho…',
    busyHeading: 'Zininzi iintlawulo ezenziwa kuthungelwano lwakho ngoku',
    offlineHeading: 'Awuqhagamshelwanga kwi-intanethi',
    offlineNote:
      'Intlawulo yakho ayikathunyelwa, kwaye akukho mali ihlawulisiweyo. Gcina eli phepha livuliwe: liza kuthumela intlawulo xa uphinde waqhagamsheleka.',
    heading: 'Siqinisekisa nebhanki yakho…',
    note: 'Oku kuthatha imizuzwana embalwa. Nceda ugcine eli phepha livuliwe.',
    lateHeading: 'Oku kuthatha ixesha elide kunesiqhelo',
    stillChecking: 'Sisalinde ibhanki yakho. Musa ukuhlawula kwakhona.',
    lateNote:
      'Eli phepha libonisa isiphumo xa ibhanki yakho isiqinisekisa. Ungalivala: intlawulo iyaqhubeka ngaphandle kweli phepha.',
    noScript: 'Eli phepha lijonga kwakhona rhoqo emva kwemizuzwana embalwa.',
  },

  verification: {
    heading: 'Qinisekisa intlawulo nebhanki yakho',
    note: 'Ibhanki yakho ifuna ukuqiniseka ukuba nguwe. Akukho mali ihlawuliswayo phambi kokuba uqinisekise.',
    continueToBank: 'Qhubekela kwibhanki yakho',
    anotherCard: 'Sebenzisa elinye ikhadi',
    until: 'Ungaqinisekisa de kube',
  },

  paid: {
    heading: 'Intlawulo iphumelele',
    alreadyHeading: 'Le odolo sele ihlawulwe',
    alreadyNote: 'Akusekho nto ifuna ukuhlawulwa.',
    amount: 'Isixa',
    card: 'Ikhadi',
    reference: 'Inombolo yentlawulo',
    date: 'Umhla',
    next: 'Siqinisekisa intlawulo yakho evenkileni. Ukuba unombuzo ngeodolo yakho, qhagamshelana nevenkile uze unike inombolo yentlawulo.',
    returnTo: 'Buyela ku-{merchant}',
    returning: 'Uza kubuyela evenkileni kungekudala.',
    stay: 'Hlala kweli phepha',
    print: 'Printa okanye ugcine irisithi',
    scanned: 'Esinye isixhobo naso sibonisa intlawulo. Ungalivala eli phepha.',
    atTill: 'Ikhawuntara yokuhlawula nayo ifumana isiqinisekiso. Ungalivala eli phepha.',
    requested: 'Umthumeli wesicelo naye ufumana isiqinisekiso. Ungalivala eli phepha.',
  },

  closed: {
    refused: {
      heading: 'Le ntlawulo ayinakuzanywa kwakhona',
      note: 'Amalinge ama-{payments} akaphumelelanga. Akukho mali ihlawulisiweyo. Buyela evenkileni ukhethe enye indlela yokuhlawula.',
    },
    expired: {
      heading: 'Eli phepha lentlawulo liphelelwe lixesha',
      note: 'Akukho mali ihlawulisiweyo. Buyela evenkileni uze uqalise intlawulo kwakhona.',
    },
    cancelled: {
      heading: 'Le ntlawulo irhoxisiwe',
      note: 'Akukho mali ihlawulisiweyo. Buyela evenkileni ukuba usafuna ukuhlawula.',
    },
  },

  closedAtTill: {
    refused: {
      heading: 'Le ntlawulo ayinakuzanywa kwakhona apha',
      note: 'Amakhadi amaninzi kakhulu aliwe. Akukho mali ihlawulisiweyo. Buza ekhawuntareni ukuba ungahlawula njani ngenye indlela.',
    },
    paused: {
      heading: 'Le khowudi ivaliwe imizuzu embalwa',
      note: 'Amakhadi amaninzi kakhulu aliwe apha. Akukho mali ihlawulisiweyo. Skena ikhowudi eboniswa yikhawuntara yale ntengo, hlawula nge-app yokuhlawula, okanye uzame kwakhona emva kwemizuzu elishumi.',
    },
    expired: {
      heading: 'Le khowudi iphelelwe lixesha',
      note: 'Akukho mali ihlawulisiweyo. Cela ikhowudi entsha ekhawuntareni.',
    },
    cancelled: {
      heading: 'Le khowudi ayisasetyenziswa',
      note: 'Akukho mali ihlawulisiweyo. Ikhawuntara iyitshintshile okanye iyivalile le ntengo: skena ikhowudi eyibonisa ngoku.',
    },
  },

  closedRequest: {
    refused: {
      heading: 'Le ntlawulo ayinakuzanywa kwakhona',
      note: 'Amakhadi amaninzi kakhulu aliwe. Akukho mali ihlawulisiweyo. Buza umthumeli wesicelo ukuba ungahlawula njani ngenye indlela.',
    },
    expired: {
      heading: 'Esi sicelo sentlawulo siphelelwe lixesha',
      note: 'Akukho mali ihlawulisiweyo. Cela umthumeli akunike ikhonkco elitsha.',
    },
    cancelled: {
      heading: 'Esi sicelo sentlawulo sirhoxisiwe',
      note: 'Akukho mali ihlawulisiweyo. Buza umthumeli wesicelo ukuba unombuzo.',
    },
  },

  notFound: {
    heading: 'Eli phepha lentlawulo alikho',
    note: 'Idilesi ayiphelelanga okanye ayisasebenzi. Buyela evenkileni uze uqalise intlawulo kwakhona.',
  },

  unavailable: {
    heading: 'Eli phepha alifumaneki okwangoku',
    note: 'Ukuba sele ucofe u-Hlawula, musa ukuhlawula kwakhona: intlawulo yakho ayilahlekanga, kwaye eli phepha liza kubonisa isiphumo.',
    again: 'Eli phepha lizama kwakhona rhoqo emva kwemizuzwana embalwa. Ungalivala uze ubuye kamva.',
  },

  atTill: {
    heading: 'Akukabikho nto ihlawulwayo kule khawuntara',
    note: 'Linda umthathi-mali ade agqibe, uze uhlawule apha.',
    again: 'Eli phepha lijonga kwakhona rhoqo emva kwemizuzwana embalwa.',
  },

  unknownCode: {
    heading: 'Le khowudi ayinakuhlawulwa apha',
    note: 'Ayiphelelanga okanye ayisasebenzi. Kwikhawuntara yokuhlawula, yiskene nge-app yokuhlawula; kungenjalo buyela apho ibiboniswe khona.',
  },

  declines: {
    '10': {
      title: 'Ibhanki yakho iyalile intlawulo',
      next: 'Akukho mali ihlawulisiweyo. Sebenzisa elinye ikhadi, okanye ubuze ibhanki yakho uze uzame kwakhona.',
    },
    '11': {
      title: 'Akukho mali yaneleyo kweli khadi',
      next: 'Akukho mali ihlawulisiweyo. Sebenzisa elinye ikhadi, okanye ufake imali uze uzame kwakhona.',
    },
    '12': {
      title: 'Eli khadi liphelelwe lixesha',
      next: 'Akukho mali ihlawulisiweyo. Jonga umhla wokuphelelwa, okanye usebenzise elinye ikhadi.',
    },
    '13': {
      title: 'Eli khadi alamkelwanga',
      next: 'Akukho mali ihlawulisiweyo. Jonga inombolo yekhadi, okanye usebenzise elinye ikhadi.',
    },
    '14': {
      title: 'I-CVV ayichanekanga',
      next: 'Akukho mali ihlawulisiweyo. Jonga i-CVV kwikhadi lakho okanye kwi-app yebhanki yakho uze uzame kwakhona.',
    },
    '15': {
      title: 'Ibhanki yakho iyimisile intlawulo',
      next: 'Akukho mali ihlawulisiweyo. Tsalela umnxeba kwinombolo engasemva kwekhadi lakho, okanye usebenzise elinye ikhadi.',
    },
    '16': {
      title: 'Ibhanki yakho ayikwazanga ukukuqinisekisa',
      next: 'Akukho mali ihlawulisiweyo. Zama kwakhona, okanye usebenzise elinye ikhadi.',
    },
    '17': {
      title: 'Uqinisekiso alugqitywanga',
      next: 'Akukho mali ihlawulisiweyo. Zama kwakhona uze uqinisekise intlawulo nebhanki yakho.',
    },
    '18': {
      title: 'Isixa sigqithile kumda wekhadi lakho',
      next: 'Akukho mali ihlawulisiweyo. Nyusa umda nebhanki yakho, okanye usebenzise elinye ikhadi.',
    },
    '20': {
      title: 'Oku kuhlawulwe okanye kuvaliwe ngeli thuba',
      next: 'Akukho mali yimbi ihlawulisiweyo. Buyela evenkileni ukuze ubone iodolo yakho.',
    },
    '22': {
      title: 'Isixa seodolo sitshintshile',
      next: 'Akukho mali ihlawulisiweyo. Jonga isixa esiboniswe apha uze uhlawule kwakhona.',
    },
    '23': {
      title: 'Bekukho enye intlawulo yale odolo ebiqhubeka',
      next: 'Jonga isixa uze uzame kwakhona. Awuyi kuhlawuliswa kabini.',
    },
    '30': {
      title: 'Ibhanki yakho ayifumanekanga',
      next: 'Akukho mali ihlawulisiweyo. Linda umzuzwana uze uzame kwakhona, okanye usebenzise elinye ikhadi.',
    },
    '31': {
      title: 'Ibhanki yakho ayiyiqinisekisanga intlawulo',
      next: 'Ukuba ibhanki yakho ibonisa isixa, siyabuyiswa. Zama kwakhona, okanye usebenzise elinye ikhadi.',
    },
  },
  unknownDecline: {
    title: 'Intlawulo ayiphumelelanga',
    next: 'Zama kwakhona, okanye usebenzise elinye ikhadi.',
  },

  merchantContact: {
    questions: 'Unemibuzo? Qhagamshelana no-{merchant}:',
    helpPage: 'Iphepha loncedo',
    terms: 'Imigaqo nemiqathango',
  },

  receiptMail: {
    summary: 'Thumela irisithi nge-imeyile',
    address: 'Idilesi ye-imeyile',
    send: 'Thumela irisithi',
    note: 'Idilesi isetyenziselwa le imeyile kuphela, kwaye ayigcinwa.',
    sent: 'Irisithi ithunyelwe. Isenokuthatha imizuzu embalwa ukufika.',
    failed: 'Irisithi ayikwazanga ukuthunyelwa. Intlawulo yakho ayichaphazeleki. Zama kwakhona.',
    limited:
      'Akukho zirisithi zimbi zinokuthunyelwa namhlanje zale ntlawulo okanye kule dilesi. Intlawulo yakho ayichaphazeleki.',
    invalid: 'Irisithi ayithunyelwanga, kuba le dilesi ye-imeyile ayichanekanga. Yijonge uze uzame kwakhona.',
    subject: 'Irisithi evela ku-{merchant}: {amount}',
    heading: 'Intlawulo yakho eya ku-{merchant}',
    reason: 'Ufumana le imeyile kuba le dilesi ibhalwe kwiphepha lokuhlawula. Ukuba asinguwe owenze oku, ungayicima.',
    reasonMerchant: 'Ufumana le imeyile kuba u-{merchant} ukuthumelele irisithi. Ukuba awuhlawulanga apho, ungayicima.',
  },
};
