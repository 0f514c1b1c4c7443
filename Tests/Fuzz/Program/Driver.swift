import FuzzTargets
import Glibc

/// Runs libFuzzer without its `main`, and measures the memory and CPU time of each input.
enum Driver {
  static let target: FuzzTarget? = getenv("CHATBOT_FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

  /// The maximum thread CPU time of one input: 50 ms, times the slowdown by the sanitizer and the coverage.
  private static let limit = 0.050 * 10

  static func list() {
    for target in FuzzTarget.allCases { print(target.rawValue, target.largestInput) }
  }

  /// - Returns: The process's exit code.
  static func run() -> Int32 {
    HeapMeter.begin()
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = CommandLine.unsafeArgv
    return runFuzzer(&count, &arguments) { bytes, count in
      Driver.test(Array(UnsafeBufferPointer(start: bytes, count: count)))
      return 0
    }
  }

  private static func test(_ input: [UInt8]) {
    guard let target else { return }
    HeapMeter.startInput()
    var time = measure(target, input)
    if HeapMeter.peak > HeapMeter.limit {
      stop("takes \(HeapMeter.peak >> 20) MiB of memory; \(HeapMeter.limit >> 20) are allowed.")
    }
    // A busy machine is not the input's fault, so a slow input is measured again.
    for _ in 0..<2 where time > limit { time = min(time, measure(target, input)) }
    if time > limit { stop("takes \(time) s of CPU time; \(limit) are allowed.") }
  }

  private static func measure(_ target: FuzzTarget, _ input: [UInt8]) -> Double {
    let begin = seconds()
    do {
      try target.run(input)
    } catch {
      stop("violates an invariant: \(error.description)")
    }
    return seconds() - begin
  }

  private static func stop(_ reason: String) -> Never {
    let line = Array("CHATBOT_FUZZ: the input \(reason)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    abort()
  }

  private static func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
