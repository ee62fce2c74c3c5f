import { ERROR_CATALOGUE, type ErrorEntry } from '@svc/contracts';
import { listPlaceholders, mapTextsByPath } from '../../test/messages.js';
import { buildDeclineText, buildPaymentsLeftText } from './decline-text.js';
import { en } from './en.js';
import { fill } from './fill.js';
import { chooseLanguage, findExplicitLanguage, getLanguage, LANGUAGES, parseLanguageTag } from './languages.js';

/** Messages that may be equal in English and another language: formats, numbers, names. */
const MAY_EQUAL_ENGLISH = [
  ...['format.decimalMark', 'page.stateTitle', 'form.cardNumberPlaceholder', 'form.expiryPlaceholder', 'form.cvv'],
  ...['format.months.3', 'format.months.8', 'format.months.10'],
];
const englishTexts = mapTextsByPath(en);
const otherLanguages = LANGUAGES.filter(({ tag }) => tag !== 'en').map(
  ({ tag, messages }) => [tag, mapTextsByPath(messages)] as const,
);

describe.each(otherLanguages)('the language %s', (_tag, messages) => {
  it('contains every message, and no message is empty or untranslated', () => {
    expect(Object.keys(messages)).toEqual(Object.keys(englishTexts));
    const equal = Object.keys(englishTexts).filter((path) => messages[path] === englishTexts[path]);
    expect(equal.filter((path) => !MAY_EQUAL_ENGLISH.includes(path))).toEqual([]);
    for (const [path, text] of Object.entries(messages))
      expect([path, text.trim() === text && text !== '']).toEqual([path, true]);
  });

  it('has the same placeholders as English in every message', () => {
    for (const [path, text] of Object.entries(messages))
      expect([path, listPlaceholders(text)]).toEqual([path, listPlaceholders(englishTexts[path]!)]);
  });

  it('ends a message with a full stop only if the English message does, and has no much longer message than English', () => {
    for (const [path, text] of Object.entries(messages).filter(
      ([messagePath]) => messagePath !== 'format.decimalMark',
    )) {
      expect([path, /[.?…]$/.test(text)]).toEqual([path, /[.?…]$/.test(englishTexts[path]!)]);
      expect([path, text.length <= englishTexts[path]!.length * 1.5 + 20]).toEqual([path, true]);
    }
  });
});

describe('the language of a page', () => {
  const chooseTag = (accepted?: string, locale?: string | null, chosen?: 'xh') =>
    chooseLanguage({ accepted, chosen }, locale).tag;

  it('is chosen by the payer, else by the locale of the session, else by the browser, and is English by default', () => {
    expect(chooseTag('af', 'zu', 'xh')).toBe('xh');
    expect(chooseTag('af', 'zu')).toBe('zu');
    expect(chooseTag('af', null)).toBe('af');
    expect(chooseTag(undefined)).toBe('en');
  });

  it.each([
    ['zu-ZA', 'zu'],
    ['ZU-za', 'zu'],
    ['zul', 'zu'],
    ['st-LS', 'st'],
    // `nso` is Sepedi, which differs from Sesotho (`st`). Unsupported and malformed tags are ignored.
    ['nso', 'af'],
    ['de-DE', 'af'],
    ['zu_ZA', 'af'],
    ['', 'af'],
    ['z'.repeat(40), 'af'],
    [`zu-${'12345678-'.repeat(5)}`, 'af'],
    // A locale of 35 characters is the longest.
    ['zu-x-12345678-12345678-12345678-123', 'zu'],
    ['zu-x-12345678-12345678-12345678-1234', 'af'],
  ])('depends on the locale %j of the session if the browser is in Afrikaans: %s', (locale, tag) =>
    expect(chooseTag('af', locale)).toBe(tag),
  );

  it.each([
    ['en-US,en;q=0.9,zu;q=0.8', 'en'],
    ['de, zu;q=0.5, xh;q=0.8', 'xh'],
    ['zu;q=0.5, xh;q=0.5', 'zu'],
    ['zu;q=0, xh;q=0.1', 'xh'],
    ['zu;q=0', 'en'],
    ['zu;Q=0.1, xh;q=0.2', 'xh'],
    ['zu;xq=0.1, xh;q=0.2', 'zu'],
    ['zu;a=0;q=0.5', 'zu'],
    ['fr-CH, *;q=0.5', 'en'],
    ['zu;q=much', 'en'],
    [' st ; q=0.7 ', 'st'],
    [`${'de,'.repeat(19)}zu`, 'zu'],
    [`${'de,'.repeat(20)}zu`, 'en'],
    [';;;,,,q=1', 'en'],
    ['"><script>', 'en'],
  ])('depends on Accept-Language %j if the payer and the session have chosen none: %s', (accepted, tag) =>
    expect(chooseTag(accepted)).toBe(tag),
  );

  it('can be chosen only by its exact tag', () => {
    expect(['zu', 'zu-ZA', 'de', '', undefined, null, ['zu'], 'constructor'].map(parseLanguageTag)).toEqual([
      'zu',
      ...Array<undefined>(7),
    ]);
  });

  it('is explicit only if the payer or the merchant chose it', () => {
    expect(findExplicitLanguage({ chosen: 'xh', accepted: 'af' }, 'zu')).toBe('xh');
    expect(findExplicitLanguage({ chosen: undefined, accepted: 'af' }, 'zu')).toBe('zu');
    expect(findExplicitLanguage({ chosen: undefined, accepted: 'af' }, 'de')).toBeUndefined();
    expect(findExplicitLanguage({ chosen: undefined, accepted: 'af' })).toBeUndefined();
  });
});

test('fill leaves a placeholder without a value unchanged, and does not fill placeholders inside of values', () => {
  expect(fill('{a} {b} {a} {c}', { a: 1, b: '$& {a}' })).toBe('1 $& {a} 1 {c}');
});

describe('the text after a failed payment', () => {
  it('exists for every decline reason of card payments in the error catalogue', () => {
    const entries = Object.entries<ErrorEntry>(ERROR_CATALOGUE);
    const declineErrors = entries.filter(
      ([code, { httpStatus }]) => httpStatus === 402 || code.startsWith('acquirer.'),
    );
    expect(declineErrors.length).toBeGreaterThan(10);
    for (const [, { errorReference }] of declineErrors) expect(Object.keys(en.declines)).toContain(errorReference);
  });

  it.each(LANGUAGES)('is in the language $tag, also if the decline reason is unknown', (language) => {
    for (const errorReference of ['99', 'constructor', '__proto__']) {
      const { title, next } = buildDeclineText(language, { errorReference, message: 'Ask your bank.' });
      const { unknownDecline } = language.messages;
      expect([title, next]).toEqual([
        unknownDecline.title,
        language.tag === 'en' ? 'Ask your bank.' : unknownDecline.next,
      ]);
    }
    expect(buildDeclineText(language, undefined)).toEqual(language.messages.unknownDecline);
  });

  it('contains the number of payments left', () => {
    expect(buildPaymentsLeftText(getLanguage('en'), 4)).toBe('You have 4 of 5 attempts left.');
    expect(buildPaymentsLeftText(getLanguage('en'), 1)).toBe('This is your last attempt.');
    expect(buildPaymentsLeftText(getLanguage('zu'), 2)).toBe('Kusele imizamo engu-2 kwengu-5.');
  });
});
