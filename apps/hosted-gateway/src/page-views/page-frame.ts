import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Language, languageOf, type LanguageTag } from '../languages/languages.js';

/** The data that every page needs: its language, and links to the same page in other languages. */
export interface PageFrame {
  readonly language: Language;
  /** The payer or the merchant chose the language: then calls of the script and links back to the page contain it too. */
  readonly isNamed: boolean;
  /** Query of the page without its language: `sessionId=…`. */
  readonly query: string;
}

/** Context for all views, instead of a property of each. */
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

/** Query for the calls of the script and links to this page. Empty if the browser's language decides. */
export function languageQuery({ language, isNamed }: PageFrame): string {
  return isNamed ? `lang=${language.tag}` : '';
}
