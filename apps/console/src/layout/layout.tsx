import type { Mode } from '@svc/contracts';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Texts } from '../languages/en/en.js';
import { LANGUAGES } from '../languages/languages.js';
import type { MerchantViewer, Viewer } from '../viewer/viewer.js';
import { ASSETS } from './console-assets.js';
import { PostForm } from './form-elements.js';
import { listSections, type SectionName } from './sections.js';

interface Frame {
  readonly title: string;
  readonly texts: Texts;
  /** Absent before the sign-in. */
  readonly viewer?: Viewer | MerchantViewer | undefined;
  readonly current?: SectionName | undefined;
  readonly children: ComponentChildren;
}

/** Renders a complete document. It works without the script, which only updates rows by itself. */
export function renderDocument(frame: Frame): string {
  return `<!doctype html>${renderToString(<Document {...frame} />)}`;
}

function Document({ title, texts, viewer, current, children }: Frame) {
  const merchantViewer = viewer && 'merchant' in viewer ? viewer : undefined;
  return (
    <html lang={texts.tag}>
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · ${merchantViewer?.merchant.name ?? texts.product}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={ASSETS.get('console.css')!.path} />
        <script src={ASSETS.get('console.js')!.path} defer />
      </head>
      <body class={merchantViewer ? `mode-${merchantViewer.mode}` : undefined}>
        <a class="skip" href="#content">
          {texts.skip}
        </a>
        {merchantViewer?.mode === 'test' ? <aside class="test-bar">{texts.mode.testBar}</aside> : null}
        {viewer ? <Header viewer={viewer} texts={texts} current={current} /> : null}
        <main id="content" class={viewer ? undefined : 'narrow'}>
          {children}
        </main>
        <Footer texts={texts} />
      </body>
    </html>
  );
}

function Header({
  viewer,
  texts,
  current,
}: Required<Pick<Frame, 'texts'>> & { viewer: Viewer | MerchantViewer; current: Frame['current'] }) {
  const shown = 'merchant' in viewer ? viewer : undefined;
  const otherMode: Mode = shown?.mode === 'live' ? 'test' : 'live';
  const merchantCount = new Set(viewer.session.roles.map(({ merchantId }) => merchantId)).size;
  return (
    <header class="top">
      <a class="brand" href={shown ? pathOf(shown) : '/'}>
        {shown?.merchant.name ?? texts.product}
      </a>
      {shown ? (
        <nav aria-label={texts.nav.menu}>
          {listSections(shown).map(({ name, path }) => (
            <a href={pathOf(shown) + path} aria-current={current === name ? 'page' : undefined}>
              {texts.nav[name]}
            </a>
          ))}
        </nav>
      ) : null}
      <div class="person">
        {viewer.session.operatorRole === undefined ? null : <a href={OPERATOR_PATH}>{texts.operator.open}</a>}
        {shown && merchantCount > 1 ? <a href="/">{texts.merchant.choose}</a> : null}
        {shown ? <a href={pathOf({ ...shown, mode: otherMode })}>{texts.mode.switchTo[otherMode]}</a> : null}
        <a href="/account" title={viewer.session.email}>
          {viewer.session.name}
        </a>
        <PostForm viewer={viewer} action="/sign-out">
          <button class="link">{texts.nav.signOut}</button>
        </PostForm>
      </div>
    </header>
  );
}

function Footer({ texts }: { texts: Texts }) {
  return (
    <footer>
      {LANGUAGES.map(({ tag, name }) =>
        tag === texts.tag ? (
          <span aria-current="true">{name}</span>
        ) : (
          <a href={`/language/${tag}`} lang={tag} hreflang={tag}>
            {name}
          </a>
        ),
      )}
    </footer>
  );
}

/** The path of the pages of operators. */
export const OPERATOR_PATH = '/operator';

/** The path of a merchant's pages in one mode. */
export function pathOf({ merchant, mode }: Pick<MerchantViewer, 'merchant' | 'mode'>): string {
  return `/${merchant.merchantId}/${mode}`;
}

/** Names and values. An empty value is not shown. */
export function FactList({ children }: { children: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {children
        .filter(([, value]) => value !== '')
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A message after an action, which screen readers read at once. */
export function Notice({ kind, children }: { kind: 'done' | 'problem'; children: ComponentChildren }) {
  return (
    <p class={`notice ${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>
      {children}
    </p>
  );
}
