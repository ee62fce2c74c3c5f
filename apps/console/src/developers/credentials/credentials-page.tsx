import { type CredentialEntry, type CredentialKind, OVERLAP_HOURS } from '@svc/contracts';
import { fill } from '../../languages/fill.js';
import { Choice, PostForm } from '../../layout/form-elements.js';
import { listSites } from '../../viewer/sites.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import { developersPath, type Message, renderDevelopersPage, SiteForm } from '../developers-frame.js';
import { isLastCredential } from './last-credential.js';

/** Value of the choice for the merchant with all its sites. */
export const WHOLE_MERCHANT = 'merchant';

/** A site, or the merchant with all its sites. */
export type Place = number | typeof WHOLE_MERCHANT;

/** A new secret, in the answer to the form that has created it. */
export interface ShownSecret {
  readonly kind: CredentialKind;
  readonly secret: string;
}

interface CredentialsPage {
  readonly viewer: MerchantViewer;
  /** Undefined if the merchant has no site yet. */
  readonly place: Place | undefined;
  readonly credentials: readonly CredentialEntry[];
  readonly message: Message | undefined;
  readonly shown: ShownSecret | undefined;
  /** Makes the id of a new credential, one for each form. */
  readonly newId: () => string;
}

export function renderCredentialsPage(page: CredentialsPage): string {
  const { viewer, place, message, shown } = page;
  const { texts } = viewer;
  const path = `${developersPath(viewer)}/keys`;
  const choices: [Place, string][] = [
    ...listSites(viewer).map(({ siteId, name }): [Place, string] => [siteId, name]),
    ...(viewer.scope.sites === 'all'
      ? [[WHOLE_MERCHANT, texts.developers.merchantKeys] satisfies [Place, string]]
      : []),
  ];
  return renderDevelopersPage({
    viewer,
    tab: 'keys',
    title: texts.keys.title,
    message,
    children: (
      <>
        {shown === undefined ? null : <Shown {...{ viewer, shown, path, place }} />}
        {place === undefined ? <p class="empty">{texts.developers.noSite}</p> : null}
        <SiteForm texts={texts} path={path} chosen={place ?? ''} choices={choices} />
        {place === undefined ? null : <Section {...page} place={place} kind="api-key" />}
        {typeof place === 'number' ? <Section {...page} place={place} kind="webhook-secret" /> : null}
      </>
    ),
  });
}

function Shown({
  viewer,
  shown,
  path,
  place,
}: {
  viewer: MerchantViewer;
  shown: ShownSecret;
  path: string;
  place: Place | undefined;
}) {
  const { keys } = viewer.texts;
  return (
    <section class="card secret" role="status">
      <h2>{`${keys.one[shown.kind]}: ${keys.shownTitle}`}</h2>
      <p>
        <code class="key">{shown.secret}</code>
      </p>
      <p>{keys.shown}</p>
      <p>
        <a href={`${path}?site=${place ?? ''}`}>{keys.done}</a>
      </p>
    </section>
  );
}

type SectionProps = CredentialsPage & { readonly place: Place; readonly kind: CredentialKind };

function Section(page: SectionProps) {
  const { viewer, place, kind, newId } = page;
  const { keys } = viewer.texts;
  const credentials = page.credentials.filter((entry) => entry.kind === kind);
  const path = `${developersPath(viewer)}/keys`;
  return (
    <section class="card">
      <h2>{keys.kinds[kind]}</h2>
      <p class="small">{keys.notes[kind]}</p>
      {credentials.length === 0 ? (
        <p class="empty">{keys.empty}</p>
      ) : (
        <table class="rows">
          <caption class="hidden">{keys.kinds[kind]}</caption>
          <thead>
            <tr>
              <th scope="col">{keys.name}</th>
              <th scope="col">{keys.created}</th>
              <th scope="col">{keys.state}</th>
            </tr>
          </thead>
          <tbody>
            {credentials.map((entry) => (
              <Row {...{ page, entry, isLast: isLastCredential(entry, credentials) }} />
            ))}
          </tbody>
        </table>
      )}
      {mayManage(viewer, place) ? (
        <PostForm viewer={viewer} action={path} data-once>
          <input type="hidden" name="site" value={place} />
          <input type="hidden" name="kind" value={kind} />
          <input type="hidden" name="key" value={newId()} />
          <button>{keys.create[kind]}</button>
        </PostForm>
      ) : null}
    </section>
  );
}

function Row({ page, entry, isLast }: { page: SectionProps; entry: CredentialEntry; isLast: boolean }) {
  const { viewer, place } = page;
  const { texts, clock } = viewer;
  const { createdUTCDate, endsUTCDate, revokedUTCDate } = entry;
  const isValid = revokedUTCDate === undefined;
  const state = describeState(viewer, endsUTCDate, revokedUTCDate);
  const colour = !isValid ? '' : endsUTCDate === undefined ? 'delivered' : 'pending';
  return (
    <tr>
      <td class="wide">
        <code>{nameOf(entry)}</code>
        {isValid && mayManage(viewer, place) ? (
          <details>
            <summary>
              {texts.keys.change} <span class="hidden">{nameOf(entry)}</span>
            </summary>
            <ReplaceForm {...{ page, entry }} />
            <RevokeForm {...{ page, entry, isLast }} />
          </details>
        ) : null}
      </td>
      <td>
        <time datetime={createdUTCDate}>{clock.format(createdUTCDate)}</time>
      </td>
      <td>
        <span class={`webhook ${colour}`}>{state}</span>
      </td>
    </tr>
  );
}

function ReplaceForm({ page, entry }: { page: SectionProps; entry: CredentialEntry }) {
  const { viewer, place, newId } = page;
  const { keys } = viewer.texts;
  return (
    <PostForm viewer={viewer} action={`${developersPath(viewer)}/keys`} data-once>
      <input type="hidden" name="site" value={place} />
      <input type="hidden" name="kind" value={entry.kind} />
      <input type="hidden" name="key" value={newId()} />
      <input type="hidden" name="replaces" value={entry.credentialId} />
      <p class="small">{keys.replaceNote}</p>
      <Choice label={keys.overlap} name="hours" chosen={24}>
        {OVERLAP_HOURS.map((hours) => [hours, keys.hours[hours]])}
      </Choice>
      <button>{keys.replace}</button>
    </PostForm>
  );
}

function RevokeForm({ page, entry, isLast }: { page: SectionProps; entry: CredentialEntry; isLast: boolean }) {
  const { viewer, place } = page;
  const { keys } = viewer.texts;
  return (
    <PostForm viewer={viewer} action={`${developersPath(viewer)}/keys/${entry.credentialId}/revoke`}>
      <input type="hidden" name="site" value={place} />
      <input type="hidden" name="kind" value={entry.kind} />
      <p class="small">{keys.revokeNote}</p>
      {isLast ? (
        <>
          <p class="notice problem">{keys.last}</p>
          <label class="check">
            <input type="checkbox" name="last" value="on" required />
            {keys.lastConfirm}
          </label>
        </>
      ) : null}
      <button class="danger">{keys.revoke}</button>
    </PostForm>
  );
}

function mayManage(viewer: MerchantViewer, place: Place): boolean {
  return viewer.can('keys.manage', place === WHOLE_MERCHANT ? undefined : place);
}

/** A webhook secret has no readable beginning, so the end of its id distinguishes it. */
function nameOf({ prefix, credentialId }: CredentialEntry): string {
  return prefix === undefined ? `…${credentialId.slice(-8)}` : `${prefix}…`;
}

function describeState(
  { texts, clock }: MerchantViewer,
  ends: string | undefined,
  revoked: string | undefined,
): string {
  if (revoked !== undefined) return fill(texts.keys.ended, { time: clock.format(revoked) });
  return ends === undefined ? texts.keys.valid : fill(texts.keys.ends, { time: clock.format(ends) });
}
