//! Does the stored configuration survive, and does an interrupted write leave the previous one in force?
//!
//! Erases and rewrites the board's stored configuration; the last test leaves it empty.
#![no_std]
#![no_main]

use defmt_rtt as _;

#[embedded_test::tests]
mod tests {
    use stribeck_core::device::config::{Blob, Config};
    use stribeck_core::wire::ConfigOrigin;
    use stribeck_firmware::store::{self, Found};
    use stribeck_firmware::{board, device};

    #[init]
    async fn init() {
        let _ = board::init();
        store::erase().await.unwrap();
    }

    fn content() -> store::Content {
        match store::load() {
            Found::Content(content) => content,
            _ => panic!("nothing good in flash"),
        }
    }

    #[test]
    async fn an_erased_store_is_empty() {
        assert_eq!(store::load(), Found::Nothing);
        assert_eq!(device::configuration().1, ConfigOrigin::Default);
    }

    #[test]
    async fn the_newest_content_is_found() {
        for i in 0..5u8 {
            store::save(&[i; 100]).await.unwrap();
            assert_eq!(content(), [i; 100]);
        }
    }

    #[test]
    async fn a_configuration_comes_back_bit_for_bit() {
        let mut config = Config::default();
        config.ekf.vt = [0.0123, 0.0456];
        store::save(Blob::seal(&config).as_bytes()).await.unwrap();
        let (found, origin) = device::configuration();
        assert_eq!(origin, ConfigOrigin::Stored);
        assert!(found == config);
    }

    /// Power fails after any number of flash words of a save.
    #[test]
    async fn a_torn_write_leaves_the_previous_content() {
        store::save(&[7; 200]).await.unwrap();
        // 200 bytes are 7 words, the header is the eighth.
        for words in 0..8 {
            assert!(store::save_until(&[9; 200], words).await.is_err());
            assert_eq!(content(), [7; 200], "torn after {} words", words);
        }
        store::save(&[8; 200]).await.unwrap();
        assert_eq!(content(), [8; 200]);
    }

    #[test]
    async fn a_torn_first_write_is_reported_as_damage() {
        assert!(store::save_until(&[9; 200], 3).await.is_err());
        assert_eq!(store::load(), Found::Damaged);
        assert_eq!(device::configuration().1, ConfigOrigin::StoredWasBad);
        store::save(&[1; 10]).await.unwrap();
        assert_eq!(content(), [1; 10]);
    }

    #[test]
    async fn content_that_is_no_configuration_falls_back_to_the_defaults() {
        store::save(&[0xA5; 64]).await.unwrap();
        let (config, origin) = device::configuration();
        assert_eq!(origin, ConfigOrigin::StoredWasBad);
        assert!(config == Config::default());
    }

    /// 128 slots per sector: the 129th save goes to the other sector, the 257th erases the first.
    #[test]
    #[timeout(60)]
    async fn sectors_are_used_in_turn() {
        for i in 0..260u32 {
            store::save(&i.to_le_bytes()).await.unwrap();
        }
        assert_eq!(content(), 259u32.to_le_bytes());
    }

    #[test]
    async fn what_is_stored_already_is_not_written_again() {
        assert_eq!(store::count(), 0);
        store::save(&[1; 100]).await.unwrap();
        for _ in 0..300 {
            store::save(&[1; 100]).await.unwrap();
        }
        assert_eq!(store::count(), 1);
        store::save(&[2; 100]).await.unwrap();
        store::save(&[1; 100]).await.unwrap();
        assert_eq!(
            (content(), store::count()),
            (store::Content::from_slice(&[1; 100]).unwrap(), 3)
        );
    }

    /// 10,000 stores: each sector is erased 39 times, and nothing is ever lost on the way. A minute on the virtual
    /// bench: `cargo vhil --filter ten_thousand --include-ignored`.
    #[test]
    #[ignore]
    #[timeout(300)]
    async fn ten_thousand_stores() {
        for i in 0..10_000u32 {
            store::save(&i.to_le_bytes()).await.unwrap();
            if i % 100 == 99 {
                assert_eq!(content(), i.to_le_bytes());
            }
        }
        assert_eq!(store::count(), 10_000);
        store::erase().await.unwrap();
    }

    #[test]
    async fn too_long_content_is_refused() {
        store::save(&[3; 10]).await.unwrap();
        assert!(store::save(&[0; store::MAX_BYTES + 1]).await.is_err());
        assert_eq!(content(), [3; 10]);
        store::erase().await.unwrap();
    }
}
