import Foundation
import FuzzTargets
import TestSupport
import Testing

/// Runs the parsers on the fuzzer's inputs: `make fuzz` finds new ones, these tests run them and mutations of them.
@Suite("Fuzzing with a fixed seed")
struct CorpusTests {
  /// The maximum CPU time of one input.
  private static let limit = Duration.milliseconds(50)

  /// The duration of the run for all targets together.
  private static let seconds = ProcessInfo.processInfo.environment["CHATBOT_FUZZ_SECONDS"].flatMap(Double.init) ?? 60

  /// The number of mutations of each target, in place of a duration.
  private static let mutations = ProcessInfo.processInfo.environment["CHATBOT_FUZZ_MUTATIONS"].flatMap(Int.init)

  /// All targets, or those that are named, for a longer run.
  private static let targets =
    ProcessInfo.processInfo.environment["CHATBOT_FUZZ_TARGETS"]?.split(separator: ",").compactMap {
      FuzzTarget(rawValue: String($0))
    } ?? FuzzTarget.allCases

  @Test("no input that once caused a failure causes one again", arguments: Corpus.crashes)
  func crashes(_ name: String) throws {
    let target = try #require(Corpus.target(ofCrash: name), "no target has the name at the start of \(name)")
    let input = try Corpus.crash(name)
    if let failure = Self.failure(of: target, input) { Issue.record("\(name) \(failure)") }
  }

  @Test("every target processes its corpus and mutations of it within 50 ms each", arguments: targets)
  func corpus(_ target: FuzzTarget) throws {
    let corpus = try Corpus.inputs(for: target)
    #expect(!corpus.isEmpty, "there is no corpus for \(target)")
    let trace = try InputTrace(target)
    var mutator = Mutator(corpus, largest: target.largestInput, seed: 20_261_122)
    let begun = ContinuousClock.now
    let end = begun + .seconds(Self.seconds / Double(Self.targets.count))
    var failures = 0
    var tried = 0
    func isOver() -> Bool {
      if let mutations = Self.mutations { return tried >= corpus.count + mutations }
      return tried >= corpus.count && ContinuousClock.now >= end
    }
    while failures < 3, !isOver() {
      let input = tried < corpus.count ? corpus[tried] : mutator.next()
      tried += 1
      trace.note(input)
      guard let failure = Self.failure(of: target, input) else { continue }
      failures += 1
      Issue.record("input \(tried) \(failure): \(Data(input).base64EncodedString())")
    }
    trace.remove()
    let took = (ContinuousClock.now - begun).formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
    print("measured: \(target.rawValue) processed \(tried) inputs in \(took)")
  }

  /// Returns why a target fails for an input, or nil if it succeeds.
  private static func failure(of target: FuzzTarget, _ input: [UInt8]) -> String? {
    do {
      let took = try ProcessorTime.least(within: limit) { try target.run(input) }
      return took > limit ? "takes \(took) of CPU time" : nil
    } catch {
      return "violates an invariant (\(error))"
    }
  }
}
