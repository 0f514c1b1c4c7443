import Foundation
import FuzzTargets
import TestSupport
import Testing

/// The parsers under the inputs of the fuzzer: `make fuzz` finds new ones, this runs them and what is like them.
@Suite("Fuzzing by seed")
struct CorpusTests {
  /// What one input may cost of a processor's time.
  private static let limit = Duration.milliseconds(50)

  /// How long all targets together are tried.
  private static let seconds = ProcessInfo.processInfo.environment["CHATBOT_FUZZ_SECONDS"].flatMap(Double.init) ?? 60

  @Test("no input that once broke something breaks anything", arguments: Corpus.crashes)
  func crashes(_ name: String) throws {
    let target = try #require(Corpus.target(ofCrash: name), "no target's name begins \(name)")
    let input = try Corpus.crash(name)
    if let failure = Self.failure(of: target, input) { Issue.record("\(name) \(failure)") }
  }

  @Test("every target takes its corpus and what is like it within 50 ms each", arguments: FuzzTarget.allCases)
  func corpus(_ target: FuzzTarget) throws {
    let corpus = try Corpus.inputs(for: target)
    #expect(!corpus.isEmpty, "there is no corpus for \(target)")
    let trace = try InputTrace(target)
    var mutator = Mutator(corpus, largest: target.largestInput, seed: 20_261_122)
    let end = ContinuousClock.now + .seconds(Self.seconds / Double(FuzzTarget.allCases.count))
    var failures = 0
    var tried = 0
    while failures < 3, tried < corpus.count || ContinuousClock.now < end {
      let input = tried < corpus.count ? corpus[tried] : mutator.next()
      tried += 1
      trace.note(input)
      guard let failure = Self.failure(of: target, input) else { continue }
      failures += 1
      Issue.record("input \(tried) \(failure): \(Data(input).base64EncodedString())")
    }
    trace.remove()
    print("measured: \(target.rawValue) took \(tried) inputs")
  }

  /// What is wrong when a target takes an input; nil when nothing is.
  private static func failure(of target: FuzzTarget, _ input: [UInt8]) -> String? {
    do {
      let took = try ProcessorTime.least(within: limit) { try target.run(input) }
      return took > limit ? "takes \(took) of a processor's time" : nil
    } catch {
      return "breaks a promise (\(error))"
    }
  }
}
