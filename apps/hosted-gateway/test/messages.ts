/** Helpers for tests of the page's languages. */
import type { Messages } from '../src/languages/en.js';
import type { Language } from '../src/languages/languages.js';

/** All texts of a tree of messages, in the order of the tree. */
export function listTexts(tree: unknown): string[] {
  return typeof tree === 'string' ? [tree] : Object.values(tree as object).flatMap(listTexts);
}

/** Returns every text of `tree` by its path, such as `form.pay`. */
export function mapTextsByPath(tree: object, parent = ''): Record<string, string> {
  return Object.assign(
    {},
    ...Object.entries(tree).map(([key, value]: [string, unknown]) =>
      typeof value === 'string' ? { [parent + key]: value } : mapTextsByPath(value as object, `${parent}${key}.`),
    ),
  ) as Record<string, string>;
}

/** Returns the placeholders of a message, such as `{amount}`, in alphabetical order. */
export function listPlaceholders(message: string): string[] {
  return (message.match(/\{\w+\}/g) ?? []).sort();
}

/** Brackets that a test puts around each message, to find text on a page that does not come from the messages. */
export const OPENING_BRACKET = '⟦';
export const CLOSING_BRACKET = '⟧';

function addBrackets<T>(tree: T): T {
  if (typeof tree === 'string') return `${OPENING_BRACKET}${tree}${CLOSING_BRACKET}` as T;
  if (Array.isArray(tree)) return tree.map(addBrackets) as T;
  const entries = Object.entries(tree as object).map(([key, value]: [string, unknown]) => [key, addBrackets(value)]);
  return Object.fromEntries(entries) as T;
}

/** English, with each message in brackets. */
export function createBracketedLanguage(messages: Messages): Language {
  return { tag: 'en', direction: 'ltr', messages: { ...addBrackets(messages), format: messages.format } };
}
