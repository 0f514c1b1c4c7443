import Foundation

/// How much the tests of the service do: a part within minutes in `make test`, all in `make service`.
enum ServiceTestForm {
  /// Whether `make service` runs: the variable `CHATBOT_SERVICE_TESTS` is `whole`.
  static let isWhole = ProcessInfo.processInfo.environment["CHATBOT_SERVICE_TESTS"] == "whole"

  /// Returns the number of repetitions in this form.
  static func count(short: Int, whole: Int) -> Int { isWhole ? whole : short }
}
