import type { ComponentChildren } from 'preact';
import { listSites } from '../viewer/sites.js';
import type { MerchantViewer, Viewer } from '../viewer/viewer.js';

interface PostForm {
  readonly viewer: Pick<Viewer, 'csrfToken'>;
  readonly action: string;
  readonly class?: string;
  readonly enctype?: 'multipart/form-data';
  /** Set if the script must send the form only once. */
  readonly 'data-once'?: boolean;
  readonly children: ComponentChildren;
}

/** A form that changes something. It has the token that a page of another site cannot know. */
export function PostForm({ viewer, action, children, ...attributes }: PostForm) {
  return (
    <form method="post" action={action} {...attributes}>
      {children}
      <input type="hidden" name="csrf" value={viewer.csrfToken} />
    </form>
  );
}

interface Choice {
  readonly label: string;
  readonly name: string;
  readonly chosen: string | number | undefined;
  readonly any?: string | undefined;
  readonly children: readonly (readonly [value: string | number, text: string])[];
}

/** A list from which one value is chosen. Without `any`, one value is always chosen. */
export function Choice({ label, name, chosen, any, children }: Choice) {
  return (
    <label>
      {label}
      <select name={name}>
        {any === undefined ? null : <option value="">{any}</option>}
        {children.map(([value, text]) => (
          <option value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SiteChoice {
  readonly viewer: MerchantViewer;
  readonly chosen: number | undefined;
  /** The name of all sites together, if they can be chosen. */
  readonly any?: string | undefined;
}

/** The choice of a site in a filter. Not shown if the person has only one. */
export function SiteChoice({ viewer, chosen, any }: SiteChoice) {
  const sites = listSites(viewer);
  if (sites.length < 2) return null;
  return (
    <Choice label={viewer.texts.payments.site} name="site" chosen={chosen} any={any}>
      {sites.map(({ siteId, name }) => [siteId, name])}
    </Choice>
  );
}
