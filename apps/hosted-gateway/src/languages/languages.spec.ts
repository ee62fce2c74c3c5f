import { ERROR_CATALOGUE, type ErrorEntry } from '@svc/contracts';
import { placesOf, textsByPath } from '../../test/messages.js';
import { declineText, triesLeftText } from './decline-text.js';
import { en } from './en.js';
import { fill } from './fill.js';
import { chooseLanguage, explicitLanguage, languageOf, LANGUAGES, parseLanguageTag } from './languages.js';

/** Texts that are the same in other languages: formats, numbers, names. */
const ALIKE = [
  ...['format.decimalMark', 'page.stateTitle', 'form.cardNumberPlaceholder', 'form.expiryPlaceholder', 'form.cvv'],
  ...['format.months.3', 'format.months.8', 'format.months.10'],
];
const english = textsByPath(en);
const others = LANGUAGES.filter(({ tag }) => tag !== 'en').map(
  ({ tag, messages }) => [tag, textsByPath(messages)] as const,
);

describe.each(others)('%s', (_tag, messages) => {
  it('contains every message, none of them empty or untranslated', () => {
    expect(Object.keys(messages)).toEqual(Object.keys(english));
    const same = Object.keys(english).filter((path) => messages[path] === english[path]);
    expect(same.filter((path) => !ALIKE.includes(path))).toEqual([]);
    for (const [path, text] of Object.entries(messages))
      expect([path, text.trim() === text && text !== '']).toEqual([path, true]);
  });

  it('has the placeholders of the English message', () => {
    for (const [path, text] of Object.entries(messages))
      expect([path, placesOf(text)]).toEqual([path, placesOf(english[path]!)]);
  });

  it('ends sentences like English, and is at most about 1.5 times as long, because the page has no more room', () => {
    for (const [path, text] of Object.entries(messages).filter(([each]) => each !== 'format.decimalMark')) {
      expect([path, /[.?…]$/.test(text)]).toEqual([path, /[.?…]$/.test(english[path]!)]);
      expect([path, text.length <= english[path]!.length * 1.5 + 20]).toEqual([path, true]);
    }
  });
});

describe('the language of a page', () => {
  const languageFor = (accepted?: string, locale?: string | null, chosen?: 'xh') =>
    chooseLanguage({ accepted, chosen }, locale).tag;

  it('is the choice of the payer, or else the language of the session, of the browser, or English', () => {
    expect(languageFor('af', 'zu', 'xh')).toBe('xh');
    expect(languageFor('af', 'zu')).toBe('zu');
    expect(languageFor('af', null)).toBe('af');
    expect(languageFor(undefined)).toBe('en');
  });

  it.each([
    ['zu-ZA', 'zu'],
    ['ZU-za', 'zu'],
    ['zul', 'zu'],
    ['st-LS', 'st'],
    // Sepedi is not Sesotho, and a malformed tag is ignored.
    ['nso', 'af'],
    ['de-DE', 'af'],
    ['zu_ZA', 'af'],
    ['', 'af'],
    ['z'.repeat(40), 'af'],
    [`zu-${'12345678-'.repeat(5)}`, 'af'],
  ])('of a session with %j and a browser in Afrikaans is %s', (locale, tag) =>
    expect(languageFor('af', locale)).toBe(tag),
  );

  it.each([
    ['en-US,en;q=0.9,zu;q=0.8', 'en'],
    ['de, zu;q=0.5, xh;q=0.8', 'xh'],
    ['zu;q=0.5, xh;q=0.5', 'zu'],
    ['zu;q=0, xh;q=0.1', 'xh'],
    ['fr-CH, *;q=0.5', 'en'],
    ['zu;q=much', 'en'],
    [' st ; q=0.7 ', 'st'],
    [`${'de,'.repeat(19)}zu`, 'zu'],
    [`${'de,'.repeat(20)}zu`, 'en'],
    [';;;,,,q=1', 'en'],
    ['"><script>', 'en'],
  ])('for Accept-Language %j is %s', (accepted, tag) => expect(languageFor(accepted)).toBe(tag));

  it('is only found by its own tag', () => {
    expect(['zu', 'zu-ZA', 'de', '', undefined, null, ['zu'], 'constructor'].map(parseLanguageTag)).toEqual([
      'zu',
      ...Array<undefined>(7),
    ]);
  });

  it('is explicit if it comes from the payer or the merchant, but not from the browser', () => {
    expect(explicitLanguage({ chosen: 'xh', accepted: 'af' }, 'zu')).toBe('xh');
    expect(explicitLanguage({ chosen: undefined, accepted: 'af' }, 'zu')).toBe('zu');
    expect(explicitLanguage({ chosen: undefined, accepted: 'af' }, 'de')).toBeUndefined();
    expect(explicitLanguage({ chosen: undefined, accepted: 'af' })).toBeUndefined();
  });
});

test('a placeholder without a value is unchanged, and values are not expanded again', () => {
  expect(fill('{a} {b} {a} {c}', { a: 1, b: '$& {a}' })).toBe('1 $& {a} 1 {c}');
});

describe('after a failed attempt', () => {
  it('every decline reason of the error catalogue for card payments has a text', () => {
    const entries = Object.entries<ErrorEntry>(ERROR_CATALOGUE);
    const ofPayments = entries.filter(([code, { httpStatus }]) => httpStatus === 402 || code.startsWith('acquirer.'));
    expect(ofPayments.length).toBeGreaterThan(10);
    for (const [, { errorReference }] of ofPayments) expect(Object.keys(en.declines)).toContain(errorReference);
  });

  it.each(LANGUAGES)('a reason without a text is not shown in English in $tag', (language) => {
    for (const errorReference of ['99', 'constructor', '__proto__']) {
      const { title, next } = declineText(language, { errorReference, message: 'Ask your bank.' });
      const { unknownDecline } = language.messages;
      expect([title, next]).toEqual([
        unknownDecline.title,
        language.tag === 'en' ? 'Ask your bank.' : unknownDecline.next,
      ]);
    }
    expect(declineText(language, undefined)).toEqual(language.messages.unknownDecline);
  });

  it('shows the number of attempts left', () => {
    expect(triesLeftText(languageOf('en'), 4)).toBe('4 of 5 tries left.');
    expect(triesLeftText(languageOf('en'), 1)).toBe('This is the last try.');
    expect(triesLeftText(languageOf('zu'), 2)).toBe('Kusele imizamo engu-2 kwengu-5.');
  });
});
