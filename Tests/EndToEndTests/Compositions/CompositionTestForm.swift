import Foundation

/// How much the tests of compositions do: a part within two minutes in `make test`, all in `make compositions`.
enum CompositionTestForm {
  /// Whether the variable `CHATBOT_COMPOSITION_TESTS` is `whole`.
  static let isWhole = ProcessInfo.processInfo.environment["CHATBOT_COMPOSITION_TESTS"] == "whole"
}
