import { canOperate } from '@svc/contracts';
import { PostForm } from '../../layout/form-elements.js';
import { FactList } from '../../layout/layout.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { CreatedValues } from '../administration/created-values.js';
import { ModeChoice } from '../administration/mode-choice.js';
import { type PageMessage, renderPage } from '../administration/operator-page.js';
import { OperatorTable, TextField, UtcTime } from '../administration/operator-table.js';

/** `GET /admin/v1/organisations`. */
export interface Partner {
  readonly organisationId: string;
  readonly name: string;
  readonly createdUTCDate: string;
}

/** `GET /admin/v1/organisations/{organisationId}/keys` and `…/api-tokens`. */
export interface PartnerCredential {
  readonly mode: string;
  /** Beginning of the credential. */
  readonly prefix: string;
  readonly revoked: boolean;
  readonly createdUTCDate: string;
}

interface PartnersPage {
  readonly viewer: OperatorViewer;
  readonly partners: readonly Partner[];
  readonly nextAfter?: string | undefined;
  readonly message?: PageMessage | undefined;
}

export function renderPartnersPage({ viewer, partners, nextAfter, message }: PartnersPage): string {
  return renderPage({
    title: 'Partners',
    viewer,
    current: 'partners',
    message,
    children: (
      <>
        <OperatorTable
          caption="Partners, the oldest first"
          empty="There are no further partners."
          rows={partners}
          columns={[
            ['Name', ({ organisationId, name }) => <a href={`/operator/partners/${organisationId}`}>{name}</a>],
            ['organisationId', ({ organisationId }) => <code>{organisationId}</code>],
            ['Created (UTC)', ({ createdUTCDate }) => <UtcTime at={createdUTCDate} />],
          ]}
        />
        {nextAfter === undefined ? null : (
          <p class="pages">
            <a href={`/operator/partners?after=${nextAfter}`}>Next partners</a>
          </p>
        )}
        {canOperate(viewer.operatorRole, 'change') ? (
          <section class="card form">
            <h2>New partner</h2>
            <PostForm viewer={viewer} action="/operator/partners" data-once>
              <TextField label="Name" name="name" />
              <button>Create the partner</button>
            </PostForm>
          </section>
        ) : null}
      </>
    ),
  });
}

interface PartnerPage {
  readonly viewer: OperatorViewer;
  readonly partner: Partner;
  readonly keys: readonly PartnerCredential[];
  readonly apiTokens: readonly PartnerCredential[];
  readonly message?: PageMessage | undefined;
  /** The secrets that a form created, shown once. */
  readonly created?: readonly (readonly [name: string, value: string])[] | undefined;
}

export function renderPartnerPage(page: PartnerPage): string {
  const { viewer, partner, keys, apiTokens, message, created = [] } = page;
  const path = `/operator/partners/${partner.organisationId}`;
  return renderPage({
    title: partner.name,
    viewer,
    current: 'partners',
    message,
    children: (
      <>
        <CreatedValues values={created} />
        <section class="card">
          <FactList>
            {[
              ['organisationId', <code>{partner.organisationId}</code>],
              ['Created (UTC)', <UtcTime at={partner.createdUTCDate} />],
            ]}
          </FactList>
        </section>
        <Credentials caption="API keys, the newest first" rows={keys} />
        <Credentials caption="API tokens, the newest first" rows={apiTokens} />
        {canOperate(viewer.operatorRole, 'change')
          ? (
              [
                ['keys', 'New API key', 'Create a key'],
                ['api-tokens', 'New API token', 'Create a token'],
              ] as const
            ).map(([name, title, button]) => (
              <section class="card form">
                <h2>{title}</h2>
                <PostForm viewer={viewer} action={`${path}/${name}`} data-once>
                  <ModeChoice />
                  <button>{button}</button>
                </PostForm>
              </section>
            ))
          : null}
      </>
    ),
  });
}

function Credentials({ caption, rows }: { readonly caption: string; readonly rows: readonly PartnerCredential[] }) {
  return (
    <OperatorTable
      caption={caption}
      empty="There is none."
      rows={rows}
      columns={[
        ['Begins with', ({ prefix }) => <code>{prefix}</code>],
        ['Mode', ({ mode }) => mode],
        ['State', ({ revoked }) => (revoked ? 'revoked' : 'valid')],
        ['Created (UTC)', ({ createdUTCDate }) => <UtcTime at={createdUTCDate} />],
      ]}
    />
  );
}
