internal import CoreMetrics
internal import JobProcess
package import JobProtocol
internal import Media
internal import NIOCore
package import PrometheusText
internal import Synchronization

/// The metrics of a program without jobs: those of media that the service has too, and those of its process.
package final class ProgramMetrics: Sendable {
  package let registry: MetricRegistry
  /// What counters were set to, by their names.
  private let raised = Mutex<[String: Double]>([:])

  /// - Parameters:
  ///   - names: the names of the metrics of media that the program has.
  ///   - others: further metrics, which are shown with the value 0 from the start, as those are.
  ///   - unknown: metrics that are shown when they have a value.
  package init(_ names: Set<String>, and others: [MetricFamily] = [], unknown: [MetricFamily] = []) {
    let families = MetricFamily.media.filter { names.contains($0.name) } + others + Self.process
    registry = MetricRegistry(families + unknown)
    for family in families {
      switch family.kind {
      // An alert on an increase needs the value before it.
      case .counter: raise(family.name, to: 0)
      case .gauge: set(family.name, 0)
      case .histogram: break
      }
    }
  }

  private static let process: [MetricFamily] = [
    MetricFamily("chatbot_cpu_seconds_total", .counter, "CPU time of the program and of the processes that decode."),
    MetricFamily(
      "chatbot_private_memory_bytes", .gauge,
      "Memory of the program and of the processes that decode, without what is shared."),
  ]

  /// Sets a gauge.
  package func set(_ name: String, _ value: Double) {
    registry.makeMeter(label: name, dimensions: []).set(value)
  }

  /// Sets a counter, which never goes back.
  package func raise(_ name: String, to value: Double) {
    let added = raised.withLock { raised in
      let before = raised[name] ?? 0
      raised[name] = max(before, value)
      return value - before
    }
    registry.makeFloatingPointCounter(label: name, dimensions: []).increment(by: added)
  }

  /// Sets the counters of received media.
  package func raise(to counts: MediaCounts, recording isRecording: Bool) {
    raise("chatbot_packets_total", to: Double(counts.packets))
    raise("chatbot_packets_lost_total", to: Double(counts.lost))
    raise("chatbot_packets_recovered_total", to: Double(counts.recovered))
    raise("chatbot_frames_total", to: Double(counts.frames))
    guard isRecording else { return }
    raise("chatbot_decode_errors_total", to: Double(counts.decodeErrors))
    raise("chatbot_frames_unverified_total", to: Double(counts.unverified))
  }

  /// Measures the process and an event loop, which takes a tenth of a second.
  func sampleProcess(_ loop: any EventLoop) async {
    let figures = ProcessFigures.read()
    raise("chatbot_cpu_seconds_total", to: figures.cpuSeconds)
    set("chatbot_private_memory_bytes", Double(figures.privateBytes))
    let due = NIODeadline.now() + .milliseconds(100)
    guard let late = try? await loop.scheduleTask(deadline: due, { NIODeadline.now() - due }).futureResult.get() else {
      return
    }
    registry.makeTimer(label: "chatbot_event_loop_delay_seconds", dimensions: []).recordNanoseconds(
      max(0, late.nanoseconds))
  }
}
