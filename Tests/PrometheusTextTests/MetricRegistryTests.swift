import CoreMetrics
import Foundation
import PrometheusText
import Testing

@Suite struct MetricRegistryTests {
  @Test func `a counter, a gauge and a histogram are written with help, type and values`() {
    let registry = MetricRegistry([
      MetricFamily("jobs_ended_total", .counter, "Jobs that ended."),
      MetricFamily("users", .gauge, "Users who are connected."),
      MetricFamily("latency_seconds", .histogram, "How long it takes.", buckets: [0.1, 1]),
    ])
    let counter = registry.makeCounter(label: "jobs_ended_total", dimensions: [("reason", "stopped")])
    counter.increment(by: 2)
    registry.makeMeter(label: "users", dimensions: []).set(2.5)
    let timer = registry.makeTimer(label: "latency_seconds", dimensions: [])
    timer.recordNanoseconds(50_000_000)
    timer.recordNanoseconds(250_000_000)
    timer.recordNanoseconds(4_000_000_000)
    #expect(
      registry.text() == """
        # HELP jobs_ended_total Jobs that ended.
        # TYPE jobs_ended_total counter
        jobs_ended_total{reason="stopped"} 2
        # HELP latency_seconds How long it takes.
        # TYPE latency_seconds histogram
        latency_seconds_bucket{le="0.1"} 1
        latency_seconds_bucket{le="1"} 2
        latency_seconds_bucket{le="+Inf"} 3
        latency_seconds_sum 4.3
        latency_seconds_count 3
        # HELP users Users who are connected.
        # TYPE users gauge
        users 2.5

        """)
  }

  @Test func `names, labels and help texts are escaped`() {
    let registry = MetricRegistry([MetricFamily("a", .gauge, "One \\ two\nthree \"four\"")])
    registry.makeMeter(label: "a", dimensions: [("0-x", "quote \" back \\ line\n"), ("__name__", "b")]).set(Int64(1))
    registry.makeMeter(label: "9 é", dimensions: []).set(Double.nan)
    #expect(
      registry.text() == """
        # HELP _9___ _9___
        # TYPE _9___ gauge
        _9___ NaN
        # HELP a One \\\\ two\\nthree "four"
        # TYPE a gauge
        a{_0_x="quote \\" back \\\\ line\\n",label__name__="b"} 1

        """)
  }

  @Test func `a name keeps its first type, and handlers of the same dimensions share a value`() {
    let registry = MetricRegistry()
    registry.makeCounter(label: "a", dimensions: [("x", "1"), ("y", "2")]).increment(by: 1)
    registry.makeCounter(label: "a", dimensions: [("y", "2"), ("x", "1")]).increment(by: 1)
    registry.makeMeter(label: "a", dimensions: []).set(Int64(9))
    #expect(registry.text() == "# HELP a a\n# TYPE a counter\na{x=\"1\",y=\"2\"} 2\n")
  }

  @Test func `the number of series of a family is limited`() {
    let registry = MetricRegistry()
    for index in 0..<1_000 {
      registry.makeCounter(label: "a", dimensions: [("x", "\(index)")]).increment(by: Int64(1))
    }
    #expect(registry.text().split(separator: "\n").count == 2 + MetricRegistry.maximumSeries)
  }

  @Test func `counters ignore what is no increment`() {
    let registry = MetricRegistry()
    let counter = registry.makeFloatingPointCounter(label: "a", dimensions: [])
    for amount in [-1.0, .nan, .infinity, 0.25, 0.5] { counter.increment(by: amount) }
    #expect(registry.text().hasSuffix("\na 0.75\n"))
  }

  @Test func `values of many threads are all counted`() async {
    let registry = MetricRegistry()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let counter = registry.makeCounter(label: "a", dimensions: [])
          for _ in 0..<1_000 { counter.increment(by: 1) }
        }
      }
    }
    #expect(registry.text().hasSuffix("\na 8000\n"))
  }

  @Test func `promtool accepts the text`() throws {
    let promtool = URL(filePath: "/usr/bin/promtool")
    guard FileManager.default.isExecutableFile(atPath: promtool.path) else { return }
    let registry = MetricRegistry([MetricFamily("x_seconds", .histogram, "Time.")])
    registry.makeTimer(label: "x_seconds", dimensions: [("a", "\"\\\n")]).recordNanoseconds(1)
    registry.makeCounter(label: "y_total", dimensions: []).increment(by: 1)
    let process = Process()
    process.executableURL = promtool
    process.arguments = ["check", "metrics"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardError = output
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(registry.text().utf8))
    try input.fileHandleForWriting.close()
    let answer = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(answer)")
  }
}
