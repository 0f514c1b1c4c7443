/// A breach of RFC 6455 by the other side, with the code that it is told (section 7.4.1).
package struct WebSocketViolation: Error, Sendable, Hashable, CustomStringConvertible {
  package var code: UInt16
  package var description: String

  package init(code: UInt16, _ description: String) {
    self.code = code
    self.description = description
  }

  static func protocolError(_ text: String) -> WebSocketViolation { .init(code: 1002, text) }
  static func notText(_ text: String) -> WebSocketViolation { .init(code: 1007, text) }
  static func tooOften(_ text: String) -> WebSocketViolation { .init(code: 1008, text) }
  static func tooBig(_ text: String) -> WebSocketViolation { .init(code: 1009, text) }
}
