/** The choice between test and live. */
export function ModeChoice() {
  return (
    <label>
      Mode
      <select name="mode">
        <option value="test">test</option>
        <option value="live">live</option>
      </select>
    </label>
  );
}
