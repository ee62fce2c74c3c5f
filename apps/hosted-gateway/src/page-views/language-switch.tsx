/** Links to the same page in the other languages. They work without script. */
import { LANGUAGES } from '../languages/languages.js';
import { GlobeIcon } from './icons.js';
import { buildLanguageLink, useFrame } from './page-frame.js';

export function LanguageSwitch() {
  const { language, query } = useFrame();
  const { label } = language.messages.language;
  return (
    <details class="languages" id="languages">
      {/* The accessible name contains the visible text, because users of voice control say that text. */}
      <summary aria-label={`${label}: ${language.messages.name}`}>
        <GlobeIcon />
        {language.messages.name}
      </summary>
      <ul>
        {LANGUAGES.filter(({ tag }) => tag !== language.tag).map(({ tag, direction, messages }) => (
          <li>
            <a href={buildLanguageLink(tag, query)} lang={tag} hreflang={tag} dir={direction}>
              {messages.name}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
