import { account } from './account.js';
import { developers } from './developers.js';
import { disputes } from './disputes.js';
import { look } from './look.js';
import { operator } from './operator.js';
import { payments } from './payments.js';
import { requests } from './requests.js';
import { settlements } from './settlements.js';
import { team } from './team.js';

/** Texts of the console in English. Every language has the same members. `{name}` is replaced. */
export const en = {
  tag: 'en',
  name: 'English',
  decimalMark: '.',
  product: 'Console',
  skip: 'Skip to the content',
  nav: {
    today: 'Today',
    payments: 'Payments',
    requests: 'Requests',
    developers: 'Developers',
    settlements: 'Settlements',
    disputes: 'Disputes',
    look: 'Look',
    team: 'Team',
    signOut: 'Sign out',
    menu: 'Menu',
  },
  mode: {
    test: 'Test',
    live: 'Live',
    testBar: 'Test mode: no money moves',
    switchTo: { test: 'Show test', live: 'Show live' },
  },
  merchant: { choose: 'Choose a merchant', none: 'No merchant has given you access yet.', allSites: 'All sites' },
  errors: {
    notFoundTitle: 'Not found',
    notFound: 'This page does not exist, or you have no access to it.',
    forbiddenTitle: 'Not allowed',
    forbidden: 'Your role does not allow this. Ask an owner of the merchant.',
    failedTitle: 'That did not work',
    retryTitle: 'Please try again',
    retry: 'Something went wrong on our side. Nothing was changed unless this page says so. Try again in a moment.',
    stale: 'The page was open for too long, or came from another site. Go back, load it again and repeat.',
    tooLarge: 'The file is too large. Choose a PNG, JPEG or WebP image of at most 256 KB.',
    reference: 'Reference for support: {id}',
    home: 'To the start',
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

export type Texts = typeof en;
