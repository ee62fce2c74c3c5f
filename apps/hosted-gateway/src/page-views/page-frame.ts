import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Language, languageOf, type LanguageTag } from '../languages/languages.js';

/** What every page has, whatever it is about: its language, and the same page in the others. */
export interface PageFrame {
  readonly language: Language;
  /** The payer or the merchant has named the language: the calls of the script, and what leads back to the page, name it too. */
  readonly isNamed: boolean;
  /** What the page was asked for, without its language: `sessionId=…`. */
  readonly query: string;
}

/** For each of the views, so that it is not handed down through all of them. */
export const FrameContext = createContext<PageFrame>({ language: languageOf('en'), isNamed: false, query: '' });

export function useFrame(): PageFrame {
  return useContext(FrameContext);
}

export function useMessages(): Language['messages'] {
  return useFrame().language.messages;
}

/** This page in another language, relative to its own address. */
export function hrefIn(tag: LanguageTag, query: string): string {
  return `?${query === '' ? '' : `${query}&`}lang=${tag}`;
}

/** What the calls of the script, and links to this page, add to their address; empty where the browser's language decides. */
export function languageQuery({ language, isNamed }: PageFrame): string {
  return isNamed ? `lang=${language.tag}` : '';
}
