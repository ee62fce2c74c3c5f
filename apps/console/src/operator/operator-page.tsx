import { fill } from '../languages/fill.js';
import type { OperatorViewer } from '../viewer/viewer.js';
import { renderOperatorDocument } from './operator-frame.js';
import { FindForm } from './timeline/timeline-page.js';

export function renderOperatorPage(viewer: OperatorViewer): string {
  const { operator } = viewer.texts;
  return renderOperatorDocument({
    title: operator.title,
    viewer,
    current: 'home',
    children: (
      <section class="card">
        <h1>{operator.title}</h1>
        <p>{fill(operator.youAre, { role: operator.roles[viewer.operatorRole] })}</p>
        <div lang="en">
          <FindForm find="" day="" mode="" />
        </div>
      </section>
    ),
  });
}
