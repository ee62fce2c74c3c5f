/**
 * Lets a loop wait until a time has passed or until another function calls `nudge()`. A nudge before the wait ends the
 * wait immediately.
 */
export class Signal {
  private nudged = false;
  private wakeUp: (() => void) | undefined;

  nudge(): void {
    this.nudged = true;
    this.wakeUp?.();
  }

  /** Forgets a nudge that no wait has seen. */
  clear(): void {
    this.nudged = false;
  }

  /** Resolves to true after a nudge, or to false when the time has passed. */
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
