import Foundation

/// The settings of tests that take too long for `make test`.
enum Soak {
  /// The minutes that `make soak` must last; nil otherwise.
  static let minutes = number("CHATBOT_SOAK_MINUTES")

  /// The number of recorders that `make crashes` must kill; nil otherwise.
  static let crashes = number("CHATBOT_CRASHES").map { Int($0) }

  private static func number(_ name: String) -> Double? {
    ProcessInfo.processInfo.environment[name].flatMap(Double.init)
  }
}
