import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { getLanguage, type Language, type LanguageTag } from '../languages/languages.js';

/** The data that every page needs: its language, and links to the same page in other languages. */
export interface PageFrame {
  readonly language: Language;
  /**
   * True if the payer or the merchant chose the language. In this case the calls of the script and the links to the
   * page contain the language.
   */
  readonly isLanguageChosen: boolean;
  /** Query of the page without its language: `sessionId=…`. */
  readonly query: string;
}

/** Preact context with the frame, for all views. */
export const FrameContext = createContext<PageFrame>({
  language: getLanguage('en'),
  isLanguageChosen: false,
  query: '',
});

export function useFrame(): PageFrame {
  return useContext(FrameContext);
}

export function useMessages(): Language['messages'] {
  return useFrame().language.messages;
}

/** Link to this page in another language, relative to the address of the page. */
export function buildLanguageLink(tag: LanguageTag, query: string): string {
  return `?${query === '' ? '' : `${query}&`}lang=${tag}`;
}

/** The language for calls of the script and links to this page. Empty if the browser's language is used. */
export function buildLanguageQuery({ language, isLanguageChosen }: PageFrame): string {
  return isLanguageChosen ? `lang=${language.tag}` : '';
}
