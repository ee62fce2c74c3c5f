/** The languages of the payment page, and the choice of the language for a payer. */
import { readLanguageRanges } from '@svc/service';
import { af } from './af.js';
import { en, type Messages } from './en.js';
import { st } from './st.js';
import { xh } from './xh.js';
import { zu } from './zu.js';

/** BCP 47 tags, in the order of the language links on the page. */
export const LANGUAGE_TAGS = ['en', 'af', 'zu', 'xh', 'st'] as const;
export type LanguageTag = (typeof LANGUAGE_TAGS)[number];

export interface Language {
  readonly tag: LanguageTag;
  /** Writing direction. */
  readonly direction: 'ltr' | 'rtl';
  readonly messages: Messages;
}

const MESSAGES: Readonly<Record<LanguageTag, Messages>> = { en, af, zu, xh, st };

export const LANGUAGES: readonly Language[] = LANGUAGE_TAGS.map((tag) => getLanguage(tag));

export function getLanguage(tag: LanguageTag): Language {
  return { tag, direction: 'ltr', messages: MESSAGES[tag] };
}

/** The language preferences in a request. */
export interface LanguagePreference {
  /** The language that the payer chose on the page. The address of the page then contains it. */
  readonly chosen: LanguageTag | undefined;
  /** `Accept-Language` (RFC 9110), not validated. */
  readonly accepted: string | undefined;
}

/**
 * The language of a page: the payer's choice, else the locale of the session, else the first supported language of the
 * browser, else English.
 *
 * @param locale of the session (BCP 47); an unsupported locale is ignored
 */
export function chooseLanguage(preference: LanguagePreference, locale?: string | null): Language {
  return getLanguage(findExplicitLanguage(preference, locale) ?? findPreferred(preference.accepted ?? '') ?? 'en');
}

/**
 * Returns the language that the payer or the merchant chose. Returns undefined if neither chose a language: the page
 * uses the preferences of the browser.
 */
export function findExplicitLanguage({ chosen }: LanguagePreference, locale?: string | null): LanguageTag | undefined {
  return chosen ?? findTagOfLocale(locale ?? '');
}

/** Parses the query parameter `lang` of the page. Undefined for an unsupported language. */
export function parseLanguageTag(lang: unknown): LanguageTag | undefined {
  return LANGUAGE_TAGS.find((tag) => tag === lang);
}

/** Equal to the limit for the locale of a session. */
const MAX_LOCALE_LENGTH = 35;
/** Less preferred languages in `Accept-Language` are ignored. Browsers send fewer. */
const MAX_LANGUAGE_RANGES = 20;

function findPreferred(accepted: string): LanguageTag | undefined {
  for (const range of readLanguageRanges(accepted).slice(0, MAX_LANGUAGE_RANGES)) {
    const tag = findTagOfLocale(range);
    if (tag !== undefined) return tag;
  }
  return undefined;
}

/**
 * The language of a locale. Ignores the region, and accepts the three-letter codes of ISO 639-2: `zu-ZA` and `zul` are
 * `zu`.
 */
function findTagOfLocale(locale: string): LanguageTag | undefined {
  if (locale === '' || locale.length > MAX_LOCALE_LENGTH) return undefined;
  try {
    return parseLanguageTag(new Intl.Locale(locale).language);
  } catch {
    return undefined;
  }
}
