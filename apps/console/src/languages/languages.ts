import { parseCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';
import { af } from './af/af.js';
import { en, type Texts } from './en/en.js';

/** The languages of the console, the first is the default. */
export const LANGUAGES: readonly Texts[] = [en, af];

/** Remembers the language that a person has chosen. */
export const LANGUAGE_COOKIE = 'lang';

/** The chosen language, else the first of the browser's languages that the console has. */
export function selectTexts({ headers }: Pick<FastifyRequest, 'headers'>): Texts {
  const chosen = findTexts(parseCookie(headers.cookie ?? '')[LANGUAGE_COOKIE]);
  if (chosen) return chosen;
  const accepted = (headers['accept-language'] ?? '').split(',').map((part) => part.split(';')[0]!.trim().slice(0, 2));
  return accepted.map(findTexts).find((texts) => texts !== undefined) ?? en;
}

export function findTexts(tag: string | undefined): Texts | undefined {
  return LANGUAGES.find((texts) => texts.tag === tag?.toLowerCase());
}
