import ObjectStore
import S3
import Yams

extension ServiceConfiguration {
  /// Reads the mapping `store`.
  static func store(_ node: Node, _ reader: SettingsReader) -> Store {
    var store = Store()
    var onlyS3: (name: String, node: Node)?
    /// An option that a folder does not have.
    func s3(_ name: String, _ body: @escaping (Node) -> Void) -> (String, (Node) -> Void) {
      (
        name,
        { node in
          onlyS3 = onlyS3 ?? (name, node)
          body(node)
        }
      )
    }
    let options = [
      s3("endpoint") { node in
        guard let text = reader.text(node, "endpoint", maximumBytes: 300) else { return }
        store.s3.endpoint = S3Endpoint(text)
        if store.s3.endpoint == nil {
          reader.report("“endpoint” must be the URL of a server, like https://s3.example.", at: node)
        }
      },
      s3("region") { node in
        guard let text = reader.text(node, "region", maximumBytes: 64) else { return }
        if S3Configuration.isRegion(text) {
          store.s3.region = text
        } else {
          reader.report("“region” has letters, digits and hyphens, like eu-central-1.", at: node)
        }
      },
      s3("pathStyle") { store.s3.pathStyle = reader.boolean($0, "pathStyle") },
      s3("serverSideEncryption") { node in
        guard let text = reader.text(node, "serverSideEncryption", maximumBytes: 2_100) else { return }
        store.s3.serverSideEncryption = S3Configuration.ServerSideEncryption(text)
        if store.s3.serverSideEncryption == nil {
          reader.report("“serverSideEncryption” is AES256, aws:kms or aws:kms:KEY.", at: node)
        }
      },
      s3("uploadRate") { node in
        guard let rate = reader.size(node, "uploadRate") else { return }
        if rate >= S3Configuration.minimumUploadRate {
          store.s3.uploadRate = rate
        } else {
          reader.report(
            "“uploadRate” is the bytes of a second, at least \(S3Configuration.minimumUploadRate).", at: node)
        }
      },
      s3("credentialsFile") { store.s3.credentialsFile = reader.text($0, "credentialsFile") },
      s3("profile") { store.s3.profile = reader.text($0, "profile", maximumBytes: 200) },
    ]
    let all: [String: (Node) -> Void] = [
      "url": { node in store.url = Self.storeURL(node, reader) },
      "path": { node in
        guard let path = reader.text(node, "path", maximumBytes: 200) else { return }
        do throws(ObjectPathTemplate.Problem) {
          store.path = try ObjectPathTemplate(path)
        } catch {
          reader.report(error.description, at: node)
        }
      },
    ]
    let before = reader.problems.count
    reader.mapping(node, "store", all.merging(options) { $1 })
    if let onlyS3, !store.isRemote, reader.problems.count == before {
      reader.report("“\(onlyS3.name)” is only for a store with a “url” that begins with s3://.", at: onlyS3.node)
    }
    return store
  }

  private static func storeURL(_ node: Node, _ reader: SettingsReader) -> String? {
    guard let url = reader.text(node, "url") else { return nil }
    if url.utf8.starts(with: "file:///".utf8) { return url }
    guard S3Configuration.isURL(url) else {
      reader.report(
        "“url” must be that of a folder, like file:///var/lib/chatbot/store, or of a bucket, like s3://bucket/prefix.",
        at: node)
      return nil
    }
    do throws(S3Configuration.Problem) {
      _ = try S3Configuration(url: url)
      return url
    } catch {
      reader.report("“url”: \(error.description)", at: node)
      return nil
    }
  }
}
