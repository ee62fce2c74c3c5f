import type { Texts } from '../en/en.js';
import { account } from './account.js';
import { developers } from './developers.js';
import { disputes } from './disputes.js';
import { look } from './look.js';
import { operator } from './operator.js';
import { payments } from './payments.js';
import { requests } from './requests.js';
import { settlements } from './settlements.js';
import { team } from './team.js';

/** Texts of the console in Afrikaans. */
export const af: Texts = {
  tag: 'af',
  name: 'Afrikaans',
  decimalMark: ',',
  product: 'Konsole',
  skip: 'Gaan na die inhoud',
  nav: {
    today: 'Vandag',
    payments: 'Betalings',
    requests: 'Versoeke',
    developers: 'Ontwikkelaars',
    settlements: 'Afrekenings',
    disputes: 'Dispute',
    look: 'Voorkoms',
    team: 'Span',
    signOut: 'Meld af',
    menu: 'Kieslys',
  },
  mode: {
    test: 'Toets',
    live: 'Regstreeks',
    testBar: 'Toetsmodus: geen geld beweeg nie',
    switchTo: { test: 'Wys toetsbetalings', live: 'Wys regte betalings' },
  },
  merchant: {
    choose: 'Kies ’n handelaar',
    none: 'Geen handelaar het jou nog toegang gegee nie.',
    allSites: 'Alle winkels',
  },
  errors: {
    notFoundTitle: 'Nie gevind nie',
    notFound: 'Hierdie blad bestaan nie, of jy het nie toegang daartoe nie.',
    forbiddenTitle: 'Nie toegelaat nie',
    forbidden: 'Jou rol laat dit nie toe nie. Vra ’n eienaar van die handelaar.',
    failedTitle: 'Dit het nie gewerk nie',
    retryTitle: 'Probeer asseblief weer',
    retry:
      'Iets het aan ons kant verkeerd geloop. Niks is verander nie, tensy hierdie blad so sê. Probeer oor ’n oomblik weer.',
    stale: 'Die blad was te lank oop, of het van ’n ander werf gekom. Gaan terug, laai dit weer en herhaal.',
    tooLarge: 'Die lêer is te groot. Kies ’n PNG-, JPEG- of WebP-prent van hoogstens 256 KB.',
    reference: 'Verwysing vir ondersteuning: {id}',
    home: 'Na die begin',
  },
  ...account,
  ...developers,
  ...look,
  ...operator,
  ...payments,
  ...requests,
  ...disputes,
  ...settlements,
  ...team,
};
