import { Injectable } from '@nestjs/common';

type Listener = (siteId: number) => void;

/** Says which site's baskets have changed, to the displays that are open in this process. */
@Injectable()
export class Changes {
  private readonly listeners = new Set<Listener>();

  notify(siteId: number): void {
    // After the transaction in which it may be called: a display reads what is committed.
    queueMicrotask(() => {
      for (const listener of this.listeners) listener(siteId);
    });
  }

  /** Returns what ends it. */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
