import type { team as english } from '../en/team.js';

/** Texts of the people of a merchant, in Afrikaans. */
export const team: typeof english = {
  team: {
    title: 'Span',
    people: 'Mense',
    name: 'Naam',
    role: 'Rol',
    factors: 'Tweede faktore',
    noFactor: 'Nog geen tweede faktor nie',
    totp: 'App',
    passkey: 'Toegangsleutel',
    lastSignIn: 'Laas aangemeld',
    never: 'Nooit',
    roleAt: '{role}: {place}',
    invitations: 'Oop uitnodigings',
    noInvitations: 'Geen uitnodiging is oop nie.',
    until: 'Tot {time}',
    mail: {
      waiting: 'Die e-pos word gestuur.',
      sent: 'Die e-pos is gestuur.',
      rejected: 'Die e-pos kon nie afgelewer word nie. Kyk na die adres en nooi weer.',
    },
    withdraw: 'Trek terug',
    withdrawNamed: 'Trek die uitnodiging van {email} terug',
    invite: 'Nooi iemand',
    inviteWhy: 'Die persoon kry ’n e-pos met ’n skakel, wat een keer binne 24 uur werk.',
    place: 'Waar',
    wholeMerchant: 'Alle winkels',
    submitInvite: 'Nooi',
    roleHelp: {
      owner: 'Eienaar: alles, ook die span',
      finance: 'Finansies: betalings, terugbetalings, vereffenings, CSV',
      support: 'Ondersteuning: betalings, kleiner terugbetalings, webhake',
      developer: 'Ontwikkelaar: betalings sonder kliënte, sleutels, webhake',
    },
    link: 'Geen e-posbediener is opgestel nie, dus stuur self hierdie skakel aan die persoon. Dit werk een keer binne 24 uur, en word net nou gewys:',
    changeRole: 'Verander die rol',
    changeRoleAt: 'Rol: {place}',
    remove: 'Verwyder uit {place}',
    removeAll: 'Verwyder uit die handelaar',
    removeWhy:
      'Die persoon verloor dadelik die toegang. ’n Persoon sonder enige rol word uitgevee, en kan weer genooi word.',
    reset: 'Verlore tweede faktore',
    resetWhy:
      'As {name} die verifikasie-app en alle toegangsleutels verloor het: almal word verwyder en die persoon word oral afgemeld. Dan is die wagwoord genoeg om ’n nuwe een op te stel, dus maak eers seker dat dit regtig {name} is wat vra.',
    resetSubmit: 'Verwyder die tweede faktore',
    back: 'Na die span',
    done: {
      invited: 'Die uitnodiging is op pad.',
      withdrawn: 'Die uitnodiging is teruggetrek.',
      changed: 'Die rol is verander.',
      removed: 'Die persoon is verwyder.',
      reset: 'Die tweede faktore is verwyder.',
    },
    problems: {
      invalid: 'Tik ’n e-posadres in en kies ’n rol.',
      alreadyThere:
        'Niemand is genooi nie: die persoon het reeds ’n rol daar, te veel uitnodigings is oop, of hierdie vorm is reeds gebruik. Laai die blad weer.',
      tooMany: 'Jou span het vandag te veel e-posse gestuur. Probeer môre weer.',
      lastOwner: 'Dit is die laaste eienaar. Maak eers iemand anders eienaar.',
      resetRefused:
        'Dit is nie vir jouself moontlik nie, ook nie vir iemand wat ook vir ’n handelaar werk wat nie joune is nie. Vra die platform.',
    },
  },
};
