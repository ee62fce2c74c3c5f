import type { DeliveryContent, Right } from '@svc/contracts';
import type { ComponentChildren } from 'preact';
import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import { Choice } from '../layout/form-elements.js';
import { Notice, pathOf, renderDocument } from '../layout/layout.js';
import { canAnywhere, type MerchantViewer } from '../viewer/viewer.js';

/** The pages of the section, with the right that each needs at one site or more. */
const TABS = [
  { name: 'deliveries', path: '', right: 'deliveries.read' },
  { name: 'keys', path: '/keys', right: 'keys.read' },
  { name: 'webhook', path: '/webhook', right: 'webhooks.manage' },
  { name: 'calls', path: '/calls', right: 'keys.read' },
] as const satisfies readonly { name: keyof Texts['developers']['sections']; path: string; right: Right }[];

export interface Message {
  readonly kind: 'done' | 'problem';
  readonly text: string;
}

interface DevelopersPage {
  readonly viewer: MerchantViewer;
  readonly tab: (typeof TABS)[number]['name'];
  readonly title: string;
  readonly message?: Message | undefined;
  readonly children: ComponentChildren;
}

export function developersPath(viewer: MerchantViewer): string {
  return `${pathOf(viewer)}/developers`;
}

export function renderDevelopersPage({ viewer, tab, title, message, children }: DevelopersPage): string {
  const { texts } = viewer;
  const tabs = TABS.filter(({ right }) => canAnywhere(viewer, right));
  return renderDocument({
    title,
    texts,
    viewer,
    current: 'developers',
    children: (
      <>
        <nav class="tabs" aria-label={texts.developers.title}>
          {tabs.map(({ name, path }) => (
            <a href={developersPath(viewer) + path} aria-current={name === tab ? 'page' : undefined}>
              {texts.developers.sections[name]}
            </a>
          ))}
        </nav>
        <h1>{title}</h1>
        {message === undefined ? null : <Notice kind={message.kind}>{message.text}</Notice>}
        {children}
      </>
    ),
  });
}

interface SiteForm {
  readonly texts: Texts;
  readonly path: string;
  readonly chosen: string | number;
  readonly choices: readonly (readonly [value: string | number, name: string])[];
}

/** Chooses the site of a page. Not shown if there is only one choice. */
export function SiteForm({ texts, path, chosen, choices }: SiteForm) {
  if (choices.length < 2) return null;
  return (
    <form class="filters" method="get" action={path}>
      <Choice label={texts.payments.site} name="site" chosen={chosen}>
        {choices}
      </Choice>
      <button>{texts.developers.show}</button>
    </form>
  );
}

/** A request or an answer as text, which can be scrolled with the keyboard. */
export function Code({ label, children }: { label: string; children: string }) {
  return (
    <>
      <h3>{label}</h3>
      <pre tabIndex={0} role="region" aria-label={label}>
        {children}
      </pre>
    </>
  );
}

/** The headers of a request, one in a line. */
export function formatHeaders(headers: DeliveryContent['headers']): string {
  return headers.map(({ name, value }) => `${name}: ${value}`).join('\n');
}

/** The answer of an endpoint in some words: its status, or why there is none. */
export function describeAnswer(
  { developers }: Texts,
  { statusCode, errorClass }: { statusCode: number | null; errorClass: string | null },
): string {
  return statusCode === null ? fill(developers.noAnswer, { reason: errorClass ?? '' }) : String(statusCode);
}
