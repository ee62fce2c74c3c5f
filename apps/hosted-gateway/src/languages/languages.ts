/** The languages of the payment page, and which of them a payer reads. */
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
  /** Of its script. */
  readonly direction: 'ltr' | 'rtl';
  readonly messages: Messages;
}

const MESSAGES: Readonly<Record<LanguageTag, Messages>> = { en, af, zu, xh, st };

export const LANGUAGES: readonly Language[] = LANGUAGE_TAGS.map((tag) => languageOf(tag));

export function languageOf(tag: LanguageTag): Language {
  return { tag, direction: 'ltr', messages: MESSAGES[tag] };
}

/** What a request says of its payer's language. */
export interface LanguageWish {
  /** By the switch on the page; in its address from then on. */
  readonly chosen: LanguageTag | undefined;
  /** `Accept-Language` (RFC 9110): anything at all. */
  readonly accepted: string | undefined;
}

/**
 * The language of a page: what its payer chose there, otherwise what the merchant said of the session, otherwise the first
 * that the browser asks for and the page has, otherwise English.
 *
 * @param locale of the session, BCP 47; one that the page does not have counts as none
 */
export function chooseLanguage(wish: LanguageWish, locale?: string | null): Language {
  return languageOf(namedLanguage(wish, locale) ?? findAccepted(wish.accepted ?? '') ?? 'en');
}

/** As {@link chooseLanguage}, as far as the payer or the merchant has named one: the browser does not know of it. */
export function namedLanguage({ chosen }: LanguageWish, locale?: string | null): LanguageTag | undefined {
  return chosen ?? findTag(locale ?? '');
}

/** Of the page's own addresses: `?lang=zu`. Undefined for anything but a language of the page. */
export function chosenTag(lang: unknown): LanguageTag | undefined {
  return LANGUAGE_TAGS.find((tag) => tag === lang);
}

/** As the longest tag of a session may be. */
const LOCALE_LENGTH_MAX = 35;
/** More than a browser sends; what is behind it is not read. */
const ACCEPTED_MAX = 20;

function findAccepted(accepted: string): LanguageTag | undefined {
  const wishes = accepted.split(',', ACCEPTED_MAX).map((wish) => {
    const [range = '', ...parameters] = wish.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { tag: findTag(range), quality: Number(quality) };
  });
  // Sorting keeps the order of what is wanted equally.
  return wishes.filter(({ tag, quality }) => tag && quality > 0).sort((one, other) => other.quality - one.quality)[0]
    ?.tag;
}

/** Also of a region, and by the three letters of ISO 639-2: `zu-ZA` and `zul` are `zu`. */
function findTag(locale: string): LanguageTag | undefined {
  if (locale === '' || locale.length > LOCALE_LENGTH_MAX) return undefined;
  try {
    return chosenTag(new Intl.Locale(locale).language);
  } catch {
    return undefined;
  }
}
