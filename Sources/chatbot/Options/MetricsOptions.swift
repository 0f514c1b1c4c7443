import ArgumentParser
import Console
import MetricsEndpoint
import OptionValues

/// Where a program serves its metrics.
struct MetricsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Serve metrics for Prometheus at http://ADDRESS/metrics: a port of this machine, or a host and a port.",
      valueName: "address"), transform: parse)
  var metrics: ListenAddress?

  @Flag(
    name: .customLong("metrics-plain-http"),
    help: "Let other machines read the metrics: without TLS, and without a token.")
  var metricsPlainHTTP = false

  @Sendable private static func parse(_ text: String) throws -> ListenAddress {
    let isPort = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    do throws(ListenAddress.ParseError) {
      return try ListenAddress(isPort ? "127.0.0.1:\(text)" : text)
    } catch {
      throw ValidationError("--metrics takes a port like 9100, or a host and a port like 127.0.0.1:9100 or [::1]:9100.")
    }
  }

  func validate() throws {
    if let metrics, !metrics.isLoopback, !metricsPlainHTTP {
      throw ValidationError(
        "--metrics \(metrics) lets other machines read the metrics, without TLS: --metrics-plain-http allows it.")
    }
    if metrics == nil, metricsPlainHTTP { throw ValidationError("--metrics-plain-http needs --metrics.") }
  }

  var areServed: Bool { metrics != nil }

  /// Serves metrics until the program ends, if that was asked for.
  func serve(_ text: @escaping MetricsServer.Text, console: Console) async throws(CallFailure) {
    guard let metrics else { return }
    do throws(MetricsServer.StartError) {
      let server = try await MetricsServer.start(metrics, text: text)
      console.say("Metrics are served at http://\(server.address)/metrics.")
    } catch {
      throw CallFailure(.serverNotReached, error.description)
    }
  }
}
