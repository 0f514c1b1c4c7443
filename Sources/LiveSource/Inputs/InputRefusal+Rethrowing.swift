import Codecs
import FileSource

/// Runs what reads a file, and gives its refusal in this target's words.
func refusing<Result>(_ body: () throws(MediaFile.Refusal) -> Result) throws(InputRefusal) -> Result {
  do throws(MediaFile.Refusal) {
    return try body()
  } catch {
    throw InputRefusal(error)
  }
}

/// Runs what a codec does, and gives its failure in this target's words.
func coding<Result>(_ body: () throws(CodecFailure) -> Result) throws(InputRefusal) -> Result {
  do throws(CodecFailure) {
    return try body()
  } catch {
    throw InputRefusal(error)
  }
}
