import { canOperate } from '@svc/contracts';
import { PostForm } from '../../layout/form-elements.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { type PageMessage, renderPage } from '../administration/operator-page.js';
import { OperatorTable, TextField, UtcTime } from '../administration/operator-table.js';
import { MerchantLink } from '../links.js';

/** `GET /admin/v1/merchants`. */
export interface ListedMerchant {
  readonly merchantId: number;
  readonly name: string;
  readonly createdUTCDate: string;
  readonly siteCount: number;
}

interface MerchantsPage {
  readonly viewer: OperatorViewer;
  readonly merchants: readonly ListedMerchant[];
  readonly nextAfter?: number | undefined;
  readonly message?: PageMessage | undefined;
}

export function renderMerchantsPage({ viewer, merchants, nextAfter, message }: MerchantsPage): string {
  return renderPage({
    title: 'Merchants',
    viewer,
    current: 'merchants',
    message,
    children: (
      <>
        <OperatorTable
          caption="Merchants, the oldest first"
          empty="There are no further merchants."
          rows={merchants}
          columns={[
            ['Merchant', ({ merchantId }) => <MerchantLink merchantId={merchantId} />],
            ['Name', ({ name }) => name],
            ['Sites', ({ siteCount }) => siteCount],
            ['Created (UTC)', ({ createdUTCDate }) => <UtcTime at={createdUTCDate} />],
          ]}
        />
        {nextAfter === undefined ? null : (
          <p class="pages">
            <a href={`/operator/merchants?after=${nextAfter}`}>Next merchants</a>
          </p>
        )}
        {canOperate(viewer.operatorRole, 'change') ? (
          <section class="card form">
            <h2>New merchant</h2>
            <PostForm viewer={viewer} action="/operator/merchants" data-once>
              <TextField label="Name that payers see" name="name" />
              <TextField label="Time zone of its days" name="timeZone" value="Africa/Johannesburg" isOptional />
              <button>Create the merchant</button>
            </PostForm>
          </section>
        ) : null}
      </>
    ),
  });
}
