import { Injectable } from '@nestjs/common';

type Listener = (siteId: number) => void;

/** Notifies the open displays of this process when a basket of a site has changed. */
@Injectable()
export class ChangeNotifier {
  private readonly listeners = new Set<Listener>();

  notify(siteId: number): void {
    // The microtask runs after the surrounding transaction, so that displays read the committed state.
    queueMicrotask(() => {
      for (const listener of this.listeners) listener(siteId);
    });
  }

  /** Returns a function that unsubscribes. */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
