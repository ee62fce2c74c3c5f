/** The languages of the payment page, and the choice of one for a payer. */
import { af } from './af.js';
import { en, type Messages } from './en.js';
import { st } from './st.js';
import { xh } from './xh.js';
import { zu } from './zu.js';

/** BCP 47, in the order of the switch on the page. */
export const LANGUAGE_TAGS = ['en', 'af', 'zu', 'xh', 'st'] as const;
export type LanguageTag = (typeof LANGUAGE_TAGS)[number];

export interface Language {
  readonly tag: LanguageTag;
  /** Writing direction. */
  readonly direction: 'ltr' | 'rtl';
  readonly messages: Messages;
}

const MESSAGES: Readonly<Record<LanguageTag, Messages>> = { en, af, zu, xh, st };

export const LANGUAGES: readonly Language[] = LANGUAGE_TAGS.map((tag) => languageOf(tag));

export function languageOf(tag: LanguageTag): Language {
  return { tag, direction: 'ltr', messages: MESSAGES[tag] };
}

/** The language preferences in a request. */
export interface LanguagePreference {
  /** Chosen with the switch on the page; from then on part of its address. */
  readonly chosen: LanguageTag | undefined;
  /** `Accept-Language` (RFC 9110), not validated. */
  readonly accepted: string | undefined;
}

/**
 * The language of a page: the payer's choice, else the locale of the session, else the first supported language of the
 * browser, else English.
 *
 * @param locale of the session (BCP 47); an unsupported one is ignored
 */
export function chooseLanguage(wish: LanguagePreference, locale?: string | null): Language {
  return languageOf(explicitLanguage(wish, locale) ?? findPreferred(wish.accepted ?? '') ?? 'en');
}

/** The language that the payer or the merchant chose; undefined if only the preferences of the browser decide. */
export function explicitLanguage({ chosen }: LanguagePreference, locale?: string | null): LanguageTag | undefined {
  return chosen ?? findTag(locale ?? '');
}

/** Parses `?lang=zu` of the page's addresses. Undefined for an unsupported language. */
export function parseLanguageTag(lang: unknown): LanguageTag | undefined {
  return LANGUAGE_TAGS.find((tag) => tag === lang);
}

/** Equal to the limit for the locale of a session. */
const MAX_LOCALE_LENGTH = 35;
/** More than any browser sends; the rest is ignored. */
const MAX_LANGUAGE_RANGES = 20;

function findPreferred(accepted: string): LanguageTag | undefined {
  const wishes = accepted.split(',', MAX_LANGUAGE_RANGES).map((wish) => {
    const [range = '', ...parameters] = wish.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { tag: findTag(range), quality: Number(quality) };
  });
  // The sort is stable: languages of equal quality keep their order.
  return wishes.filter(({ tag, quality }) => tag && quality > 0).sort((one, other) => other.quality - one.quality)[0]
    ?.tag;
}

/** Accepts regions and the three-letter codes of ISO 639-2: `zu-ZA` and `zul` are `zu`. */
function findTag(locale: string): LanguageTag | undefined {
  if (locale === '' || locale.length > MAX_LOCALE_LENGTH) return undefined;
  try {
    return parseLanguageTag(new Intl.Locale(locale).language);
  } catch {
    return undefined;
  }
}
