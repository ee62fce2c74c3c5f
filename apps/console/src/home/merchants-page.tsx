import { renderDocument } from '../layout/layout.js';
import type { KnownMerchant } from '../merchants/merchant.repository.js';
import type { Viewer } from '../viewer/viewer.js';

export function renderMerchantsPage(viewer: Viewer, merchants: readonly KnownMerchant[]): string {
  const { texts } = viewer;
  return renderDocument({
    title: texts.merchant.choose,
    texts,
    viewer,
    children: (
      <section class="card">
        <h1>{texts.merchant.choose}</h1>
        {merchants.length === 0 ? <p>{texts.merchant.none}</p> : null}
        <ul class="choices">
          {merchants.map(({ merchantId, name }) => (
            <li>
              <strong>{name}</strong> <a href={`/${merchantId}/live`}>{texts.mode.live}</a>{' '}
              <a href={`/${merchantId}/test`}>{texts.mode.test}</a>
            </li>
          ))}
        </ul>
      </section>
    ),
  });
}
