/**
 * Checks that every text of every page comes from the messages of a language: if all messages are in brackets, no text
 * is outside of brackets.
 */
import {
  CLOSING_BRACKET,
  createBracketedLanguage,
  listPlaceholders,
  listTexts,
  OPENING_BRACKET,
} from '../../test/messages.js';
import {
  allPages,
  declinedPage,
  openPage,
  order,
  paidPage,
  readVisibleText,
  receiptMailPages,
  renderHtml,
  reversedCharges,
} from '../../test/pages.js';
import { en } from '../languages/en.js';
import { LANGUAGES } from '../languages/languages.js';
import type { PayPageModel } from './pay-page-model.js';

const language = createBracketedLanguage(en);

/** Texts that do not come from messages: numbers, dates, the merchant's texts, and `K`, the initial of its name. */
const NOT_FROM_MESSAGES = [
  ...['help@karoo.example', '+27 21 555 0100'],
  ...['Karoo Coffee', 'Online store', 'order-1001', 'Beans', 'Ethiopia Guji', '1VQ5K3P0ABCDEFGHJK', /\*{4} \d{4}/],
  ...[/\d × /, 'Visa', 'Mastercard', 'Amex', 'Diners', 'Discover', 'JCB', 'UnionPay', 'Maestro'],
  ...[/R [\d ]+\.\d\d/, /\d+ November 2026 at \d\d:\d\d SAST/, /← /, /·/, /^K | K /],
];
const AT_TILL = {
  invoiceOrigin: 'till',
  returnUrl: undefined,
  choice: { amountCents: { min: 100, max: 500 }, tipMaxCents: 100 },
};
const pages: [string, PayPageModel][] = [
  ...allPages.map((model): [string, PayPageModel] => [model.state, model]),
  ...allPages
    .filter((model) => 'sessionId' in model)
    .map((model): [string, PayPageModel] => [
      `${model.state} with all optional fields`,
      { ...model, ...optionalFields() },
    ]),
  ...allPages
    .filter((model) => 'sessionId' in model)
    .map((model): [string, PayPageModel] => [`${model.state} at a till`, { ...model, ...AT_TILL } as PayPageModel]),
  ...allPages
    .filter((model) => 'sessionId' in model)
    .map((model): [string, PayPageModel] => [
      `${model.state} of a payment request`,
      { ...model, ...AT_TILL, invoiceOrigin: 'request' } as PayPageModel,
    ]),
  ...Object.keys(en.declines).map((errorReference): [string, PayPageModel] => [
    `declined ${errorReference}`,
    { ...declinedPage, decline: { errorReference, message: '' } },
  ]),
  [
    'declined for an unknown reason',
    { ...declinedPage, decline: { errorReference: '99', message: '' }, paymentsLeft: 1 },
  ],
  ['open with a basket', { ...openPage, basket: buildBasket(true) }],
  ['open with a challenge', { ...openPage, challenge: 'a.b.1000.1.c.d' }],
  ...receiptMailPages.map((model): [string, PayPageModel] => [
    `paid, with a look, and a receipt by e-mail: ${model.receiptMail?.result ?? 'not sent'}`,
    model,
  ]),
  ['paid on another device', { ...paidPage, returnUrl: undefined } as unknown as PayPageModel],
];

function optionalFields() {
  const customFields = Array.from({ length: 9 }, () => ({ key: 'Beans', value: 'Ethiopia Guji' }));
  const code = 'https://pay.example/c/01234567890123456789';
  return { isTest: true, reversedCharges, customFields, code, basket: buildBasket(false) };
}

function buildBasket(isIncluded: boolean) {
  const line = { label: 'Beans', quantity: 2, unitPriceCents: 100, amountCents: 200 };
  return {
    lines: Array.from({ length: 11 }, () => line),
    totalCents: 2_500,
    shippingCents: 100,
    tax: { amountCents: 200, isIncluded },
  };
}

/** Returns the text that is outside of brackets. */
function textOutsideBrackets(text: string): string {
  let [outside, depth] = ['', 0];
  for (const character of text) {
    if (character === OPENING_BRACKET) depth++;
    if (depth === 0) outside += character;
    if (character === CLOSING_BRACKET) depth--;
  }
  return outside;
}

describe.each(pages)('the page %s', (_name, model) => {
  const html = renderHtml(model, { language });

  it('contains only text from the messages of its language', () => {
    const title = /<title>(.*?)<\/title>/.exec(html)?.[1] ?? '';
    const names = [...html.matchAll(/ (?:aria-label|alt|title|placeholder)="([^"]*)"/g)].map(([, name]) => name);
    // The names of the other languages are in those languages.
    const text = [readVisibleText(html.replace(/<details class="languages".*?<\/details>/s, '')), title, ...names].join(
      ' ',
    );
    const remainingText = NOT_FROM_MESSAGES.reduce<string>(
      (remaining, known) => remaining.replaceAll(typeof known === 'string' ? known : new RegExp(known, 'g'), ' '),
      textOutsideBrackets(text),
    );
    expect(remainingText.replace(/[\s.():]/g, '')).toBe('');
  });

  it.each(LANGUAGES)('contains no unfilled placeholder in $tag', (pageLanguage) => {
    expect(listPlaceholders(renderHtml(model, { language: pageLanguage }))).toEqual([]);
  });
});

test('every message that the server renders is on one of these pages', () => {
  const shown = pages
    .map(([, model]) => renderHtml(model, { language }))
    .join(' ')
    .replace(/&#39;|&#x27;/g, "'")
    .replaceAll('&quot;', '"');
  // The names with an underscore are formats, texts that only the script shows, and texts of error responses and
  // e-mails.
  const {
    format: _format,
    language: { confirmLanguageChange: _confirmLanguageChange, ...switchTexts },
    choiceErrors: _choiceErrors,
    fieldErrors: _fieldErrors,
    formErrors: _formErrors,
    refusals: _refusals,
    challenge: { progress: _progress, done: _done, ...challengeTexts },
    processing,
    paid,
    form,
    receiptMail: {
      subject: _subject,
      heading: _heading,
      reason: _reason,
      reasonMerchant: _reasonMerchant,
      ...receiptMailTexts
    },
    ...rest
  } = language.messages;
  const {
    sendingHeading: _sending,
    busyHeading: _busy,
    offlineHeading: _offline,
    offlineNote: _offlineNote,
    ...processingTexts
  } = processing;
  const { returning: _returning, ...paidTexts } = paid;
  const { cvvHint: _cvvHint, cvvHintFour: _cvvHintFour, expiring: _expiring, ...formTexts } = form;
  const missing = listTexts({
    switchTexts,
    challengeTexts,
    processingTexts,
    paidTexts,
    formTexts,
    receiptMailTexts,
    ...rest,
  }).filter((text) => !shown.includes(text.split(/\{\w+\}/)[0]!));
  expect(missing).toEqual([]);
});

test('textOutsideBrackets returns only the text outside of brackets, and the rendered pages contain brackets', () => {
  expect(textOutsideBrackets(`${OPENING_BRACKET}a ${OPENING_BRACKET}b${CLOSING_BRACKET}${CLOSING_BRACKET} c`)).toBe(
    ' c',
  );
  expect(renderHtml({ ...order, state: 'refused' }, { language })).toContain(OPENING_BRACKET);
  expect(renderHtml(openPage, { language })).toContain(`${OPENING_BRACKET}Card number${CLOSING_BRACKET}`);
});
