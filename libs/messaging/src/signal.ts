/** Lets a loop wait for a time or for a nudge, whichever comes first. A nudge before the wait is remembered. */
export class Signal {
  private nudged = false;
  private wakeUp: (() => void) | undefined;

  nudge(): void {
    this.nudged = true;
    this.wakeUp?.();
  }

  /** True when nudged, false when the time ran out. */
  async wait(milliseconds: number): Promise<boolean> {
    if (!this.nudged) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wakeUp = undefined;
    }
    const nudged = this.nudged;
    this.nudged = false;
    return nudged;
  }
}
