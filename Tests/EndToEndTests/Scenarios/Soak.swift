import Foundation

/// What takes too long for `make test`.
enum Soak {
  /// How many minutes `make soak` is to last; nil unless it was requested.
  static let minutes = number("CHATBOT_SOAK_MINUTES")

  /// How many recorders `make crashes` is to kill; nil unless it was requested.
  static let crashes = number("CHATBOT_CRASHES").map { Int($0) }

  private static func number(_ name: String) -> Double? {
    ProcessInfo.processInfo.environment[name].flatMap(Double.init)
  }
}
