/// A text that appears in no description, dump or log.
struct Secret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  let text: String

  init(_ text: String) { self.text = text }

  var description: String { "(secret)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
