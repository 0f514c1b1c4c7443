package import CoreMetrics
import Synchronization

/// A backend of swift-metrics whose values are read as text in the exposition format 0.0.4 of Prometheus.
///
/// - A `Counter` is a counter, a `Meter` or `Gauge` a gauge, a `Timer` a histogram of seconds, and an aggregating `Recorder` a histogram.
/// - A metric that is not declared has its label, with other characters replaced, as its name and help text.
/// - Two handlers with the same name and dimensions share a value. A handler whose name has another type already is not exposed.
/// - A family has at most ``maximumSeries`` series; values of further dimensions are not exposed.
package final class MetricRegistry: MetricsFactory, Sendable {
  /// The maximum number of combinations of dimensions of a family.
  package static let maximumSeries = 200

  struct SeriesKey: Hashable {
    var name: String
    var labels: String
  }

  struct State {
    var families: [String: MetricFamily]
    var series: [SeriesKey: MetricSeries] = [:]
    var seriesCount: [String: Int] = [:]
  }

  private let state: Mutex<State>

  package init(_ families: [MetricFamily] = []) {
    state = Mutex(State(families: Dictionary(families.map { ($0.name, $0) }) { first, _ in first }))
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter)
  }

  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter)
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge)
  }

  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    series(label, dimensions, aggregate ? .histogram : .gauge)
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram)
  }

  // A value stays when nobody changes it any more: a counter that disappears and begins again looks like a restart.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}

  private func series(_ label: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind) -> MetricSeries {
    let name = MetricFamily.validName(label)
    let labels = PrometheusText.labels(dimensions)
    return state.withLock { state in
      let family = state.families[name] ?? MetricFamily(name, kind, name)
      guard family.kind == kind else { return MetricSeries(family: MetricFamily(name, kind, name), labels: labels) }
      state.families[name] = family
      let key = SeriesKey(name: name, labels: labels)
      if let known = state.series[key] { return known }
      let series = MetricSeries(family: family, labels: labels)
      guard state.seriesCount[name, default: 0] < Self.maximumSeries else { return series }
      state.seriesCount[name, default: 0] += 1
      state.series[key] = series
      return series
    }
  }

  /// All values as text, families and series in the order of their names. Families without a value are left out.
  package func text() -> String {
    let (families, series) = state.withLock { ($0.families, Array($0.series.values)) }
    return PrometheusText.text(families: families, series: series)
  }
}

/// The value of one series.
final class MetricSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler,
  Sendable
{
  struct Value {
    var sum = 0.0
    /// Of a histogram: how many values each bucket has, the last one those above all bounds.
    var buckets: [UInt64]
  }

  let family: MetricFamily
  /// As in the text: empty, or in braces.
  let labels: String
  private let value: Mutex<Value>

  init(family: MetricFamily, labels: String) {
    self.family = family
    self.labels = labels
    let count = family.kind == .histogram ? family.buckets.count + 1 : 0
    value = Mutex(Value(buckets: Array(repeating: 0, count: count)))
  }

  var current: Value { value.withLock { $0 } }

  // A counter.
  func increment(by amount: Int64) { increment(by: Double(amount)) }
  // A counter or a gauge.
  func increment(by amount: Double) {
    guard amount > 0, amount.isFinite else { return }
    value.withLock { $0.sum += amount }
  }
  func reset() { value.withLock { $0.sum = 0 } }

  func decrement(by amount: Double) {
    guard amount > 0, amount.isFinite else { return }
    value.withLock { $0.sum -= amount }
  }
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { self.value.withLock { $0.sum = value } }

  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) {
    guard family.kind == .histogram else { return set(value) }
    guard value.isFinite else { return }
    let index = family.buckets.firstIndex { value <= $0 } ?? family.buckets.count
    self.value.withLock {
      $0.sum += value
      $0.buckets[index] += 1
    }
  }
  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
}
